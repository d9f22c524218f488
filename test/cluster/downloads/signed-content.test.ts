import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { DAY, MINUTE, SECOND } from '../../../src/domain/clock.ts'
import {
  api,
  askSigned,
  bearer,
  changeFolder,
  deleteFile,
  makeFolder,
  randomBytes,
  signedAddress,
  type Uploaded,
  upload,
  visit,
  withHoldfast,
} from '../../support/clients/public.ts'
import { sessionHeaders, signedIn, type Visitor } from '../../support/clients/site-visitor.ts'
import { ownedHost } from '../../support/servers/owned-host.ts'

const MODES = ['download', 'view'] as const
const answer = z.object({
  success: z.literal(true),
  expires_in: z.literal(1800),
  file: z.string(),
  name: z.string(),
  server: z.string(),
  token: z.string(),
})
const failure = z.object({ success: z.literal(false), message: z.string(), error: z.string() })

const { host, key } = await ownedHost()

async function codeOf(response: Response): Promise<string> {
  return failure.parse(await response.json()).error
}

/** A file in an open folder of its own, with an address signed for anybody. */
async function published(): Promise<{ file: Uploaded; folder: string; address: string }> {
  const folder = await makeFolder(host, key)
  const file = await upload(host, { key, folder, name: 'photo.png', type: 'image/png' })
  return { file, folder, address: await signedAddress(host, file) }
}

describe.each(MODES)('asking for a signed address to %s', (mode) => {
  test('answers the parts of an address that lives 1800 seconds', async () => {
    const file = await upload(host, { key, name: 'Foto ü.png', type: 'image/png' })
    const response = await askSigned(host, mode, { file_slug: file.slug })
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toContain('private')
    const signed = answer.parse(await response.json())
    expect(signed.file).toBe(`${file.uuid}.png`)
    expect(signed.name).toBe('Foto ü.png')
    expect(signed.server).toBe(host.url)
  })

  test('answers an address that gives the bytes', async () => {
    const bytes = randomBytes(5000)
    const file = await upload(host, { key, name: 'photo.png', type: 'image/png', bytes })
    const response = await visit(host, await signedAddress(host, file, mode))
    expect(response.status).toBe(200)
    expect(await response.bytes()).toEqual(bytes)
    const disposition = mode === 'download' ? 'attachment' : 'inline'
    expect(response.headers.get('content-disposition')).toStartWith(disposition)
  })

  test.each(['README', 'archive.tar.gz', 'no ext.', '.hidden', 'odd.ex t', 'strange.ü', 'x.%2F'])(
    'answers a working address for a file named %p',
    async (name) => {
      const file = await upload(host, { key })
      const renamed = await api(host, key, 'PATCH', `/api/v1/file/${file.slug}`, { name })
      expect(renamed.status).toBe(200)
      expect((await visit(host, await signedAddress(host, file, mode))).status).toBe(200)
    },
  )

  test('is 404 for a slug that nobody has', async () => {
    const response = await askSigned(host, mode, { file_slug: 'AAAAAAAAAAAA' })
    expect(response.status).toBe(404)
    expect(await codeOf(response)).toBe('FILE_NOT_FOUND')
  })

  const bodies = [{}, { file_slug: null }, { file_slug: 7 }, { file_slug: [] }, [], null, 'x']
  test.each(bodies.map((body) => ({ body, json: JSON.stringify(body) })))(
    'is 400 for the body $json',
    async ({ body }) => {
      const response = await askSigned(host, mode, body)
      expect(response.status).toBe(400)
      expect(await codeOf(response)).toBe('INVALID_REQUEST')
    },
  )

  test('is 400 for a body that is no JSON', async () => {
    const headers = { 'content-type': 'application/json' }
    const response = await visit(host, `/v2/api/public/${mode}`, { method: 'POST', headers, body: '{' })
    expect(response.status).toBe(400)
  })

  test('names the content origin where one is set', async () => {
    await withHoldfast({ contentUrl: 'https://content.example' }, async (own) => {
      const file = await upload(own)
      const response = await askSigned(own, mode, { file_slug: file.slug })
      expect(answer.parse(await response.json()).server).toBe('https://content.example')
    })
  })
})

describe('a token', () => {
  test('expires after 1800 seconds by the clock', async () => {
    const file = await upload(host)
    const address = await signedAddress(host, file)
    host.clock.advance(1790 * SECOND)
    expect((await visit(host, address)).status).toBe(200)
    host.clock.advance(11 * SECOND)
    const late = await visit(host, address)
    expect(late.status).toBe(403)
    expect(await codeOf(late)).toBe('INVALID_TOKEN')
    expect((await visit(host, await signedAddress(host, file))).status).toBe(200)
  })

  test('is refused when any part of it is changed', async () => {
    const { address } = await published()
    const url = new URL(address)
    const token = url.searchParams.get('token') ?? ''
    const changed = [...token].map((letter, at) => {
      const other = letter === 'A' ? 'B' : 'A'
      return token.slice(0, at) + other + token.slice(at + 1)
    })
    // The last character of unpadded base64 may carry unused bits, which say nothing.
    const positions = [0, 1, 2, Math.floor(token.length / 3), Math.floor(token.length / 2), token.length - 2]
    for (const at of positions) {
      url.searchParams.set('token', changed[at] ?? '')
      const response = await visit(host, url.href)
      expect(response.status).toBe(403)
      expect(await codeOf(response)).toBe('INVALID_TOKEN')
    }
  })

  test.each(['', 'x', '.', '..', '0', '\0', '%FF', 'a.b.c', 'é', 'A'.repeat(5000)])(
    'is refused when it is %p',
    async (token) => {
      const { address } = await published()
      const url = new URL(address)
      url.searchParams.set('token', token)
      expect((await visit(host, url.href)).status).toBe(403)
    },
  )

  test('is needed', async () => {
    const { address } = await published()
    const url = new URL(address)
    url.searchParams.delete('token')
    expect((await visit(host, url.href)).status).toBe(403)
  })

  test('names one file and opens no other', async () => {
    const one = await published()
    const other = await published()
    const url = new URL(one.address)
    url.pathname = new URL(other.address).pathname
    const response = await visit(host, url.href)
    expect(response.status).toBe(403)
    expect(await codeOf(response)).toBe('INVALID_TOKEN')
  })

  test('of one server is worth nothing on another', async () => {
    const { address } = await published()
    await withHoldfast({}, async (own) => {
      const url = new URL(address)
      const file = await upload(own)
      url.host = new URL(own.url).host
      url.pathname = new URL(await signedAddress(own, file)).pathname
      expect((await visit(own, url.href)).status).toBe(403)
    })
  })
})

describe('a signed address', () => {
  const methods = ['GET', 'HEAD']

  test('stops when the file is deleted', async () => {
    const { file, address } = await published()
    await deleteFile(host, key, file.slug)
    for (const method of methods) expect((await visit(host, address, { method })).status).toBe(404)
  })

  test('stops when a folder above is deleted', async () => {
    const { folder, address } = await published()
    await api(host, key, 'POST', '/folder/delete', { identifiers: [folder] })
    for (const method of methods) expect((await visit(host, address, { method })).status).toBe(404)
  })

  test('stops when the file becomes private, except for its owner', async () => {
    const { folder, address } = await published()
    await changeFolder(host, key, folder, { public: 0 })
    for (const method of methods) expect((await visit(host, address, { method })).status).toBe(404)
    expect((await visit(host, address, { headers: bearer(key) })).status).toBe(200)
    await changeFolder(host, key, folder, { public: 1 })
    expect((await visit(host, address)).status).toBe(200)
  })

  test('stops when the file is moved into a private folder', async () => {
    const { file, address } = await published()
    const hidden = await makeFolder(host, key, { public: 0 })
    await api(host, key, 'POST', '/api/v1/file/move', { file: file.slug, folder: hidden })
    expect((await visit(host, address)).status).toBe(404)
  })

  test('stops when the file becomes locked', async () => {
    const { folder, address } = await published()
    await changeFolder(host, key, folder, { password: 'sesame' })
    for (const method of methods) expect((await visit(host, address, { method })).status).toBe(403)
    expect(await codeOf(await visit(host, address))).toBe('PASSWORD_REQUIRED')
  })

  test('stops when the folder is moved below a locked one', async () => {
    const { folder, address } = await published()
    const locked = await makeFolder(host, key, { password: 'sesame' })
    await api(host, key, 'POST', '/api/v1/folder/move', { folder, parent: locked })
    expect(await codeOf(await visit(host, address))).toBe('PASSWORD_REQUIRED')
  })

  interface Ending {
    readonly username: string
    readonly key: string
    readonly person: Visitor
  }
  const endings: readonly (readonly [string, 'key' | 'session', (by: Ending) => unknown])[] = [
    [
      'the account that it was signed for is disabled',
      'key',
      ({ username }) => host.disableAccount(username),
    ],
    ['the key that asked for it is revoked', 'key', ({ key: asking }) => host.revokeKey(asking)],
    ['the key that asked for it has expired', 'key', () => host.clock.advance(5 * MINUTE)],
    [
      'the session that asked for it is signed out',
      'session',
      ({ person }) => person.send('DELETE', '/api/v1/session'),
    ],
    [
      'the session that asked for it ends with another password',
      'session',
      ({ username }) => signedIn(host, username),
    ],
  ]

  test.each(endings)('outlives nothing: for what is private it stops when %s', async (_, by, end) => {
    const { username, apiKey } = await host.addAccount()
    const folder = await makeFolder(host, apiKey, { public: 0 })
    const [hidden, shown] = [await upload(host, { key: apiKey, folder }), await upload(host, { key: apiKey })]
    const asking = await host.addKey(username, { expiresAt: host.clock.now() + 5 * MINUTE })
    const person = await signedIn(host, username)
    const headers = by === 'key' ? bearer(asking) : sessionHeaders(person)
    const addresses = await Promise.all(
      [hidden, shown].map((file) => signedAddress(host, file, 'view', headers)),
    )
    const zip = await fetch(`${host.url}/api/v1/files/download`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ files: [hidden.slug] }),
    })
    addresses.push(z.object({ data: z.object({ url: z.string() }) }).parse(await zip.json()).data.url)
    const statuses = async () =>
      Promise.all(addresses.map(async (address) => (await visit(host, address)).status))
    // Whoever asked for it, and another key of theirs that may read nothing by itself.
    const theirs = [headers, bearer(await host.addKey(username, { scopes: ['upload'] }))]
    const statusesOfTheirs = async () =>
      Promise.all(theirs.map(async (who) => (await visit(host, addresses[0] ?? '', { headers: who })).status))
    expect([await statuses(), await statusesOfTheirs()]).toEqual([
      [200, 200, 200],
      [200, 200],
    ])
    await end({ username, key: asking, person })
    expect([await statuses(), await statusesOfTheirs()]).toEqual([
      [404, 200, 404],
      [404, 404],
    ])
  })

  test('stops when the file runs out of its 45 days', async () => {
    const file = await upload(host)
    host.clock.advance(45 * DAY - 10 * MINUTE)
    const address = await signedAddress(host, file)
    host.clock.advance(12 * MINUTE)
    await host.runJobs()
    expect((await visit(host, address)).status).toBe(404)
  })
})

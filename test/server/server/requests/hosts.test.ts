import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newcomer } from '../../../support/clients/api.ts'
import { openRaw, type RawReply } from '../../../support/network/raw-connection.ts'
import { atNode, startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'

const SITE = 'https://files.example'
const CONTENT = 'https://content.example'

let plain: TestHoldfast
let split: TestHoldfast

beforeAll(async () => {
  plain = await startHoldfast()
  split = await startHoldfast({ publicUrl: SITE, contentUrl: CONTENT })
})

afterAll(async () => {
  await plain.stop()
  await split.stop()
})

/** The answer to a head written by hand: `GET <path> <rest>`. */
async function get(host: TestHoldfast, path: string, rest: string): Promise<RawReply> {
  // A balancer judges Host by itself.
  const connection = await openRaw(atNode(host).url)
  await connection.send(`GET ${path} ${rest}\r\n\r\n`)
  const answer = await connection.answer()
  connection.destroy()
  return answer
}

/** Both ways to answer. */
const paths = ['/health', '/f/abcdefghijklmnop']

describe('the Host header', () => {
  test.each(paths)('sent twice is refused, at %s', async (path) => {
    for (const second of ['localhost', 'evil.example']) {
      const { status } = await get(plain, path, `HTTP/1.1\r\nHost: localhost\r\nHost: ${second}`)
      expect(status).toBe(400)
    }
  })

  test.each(paths)('may be missing in HTTP/1.0 and not in HTTP/1.1, at %s', async (path) => {
    expect((await get(plain, path, 'HTTP/1.0')).status).toBe(path === '/health' ? 200 : 404)
    expect((await get(plain, path, 'HTTP/1.1')).status).toBe(400)
  })

  test('of a whole address in the place of the path is the one that counts, on both ways to answer', async () => {
    for (const path of paths) {
      const direct = await get(split, path, 'HTTP/1.1\r\nHost: files.example')
      const whole = await get(split, `http://content.example${path}`, 'HTTP/1.1\r\nHost: files.example')
      expect(whole.status).toBe(direct.status)
    }
  })
})

describe('with content at a name of its own', () => {
  let bytes: string
  let thumbnail: string
  let slug: string

  beforeAll(async () => {
    const account = await newcomer(split)
    const uploaded = await account.put('x', { name: 'a.txt' })
    slug = uploaded.slug
    thumbnail = uploaded.thumbnail_url
    const signed = split.url
    const answer = await fetch(`${signed}/v2/api/public/view`, {
      method: 'POST',
      body: JSON.stringify({ file_slug: slug }),
      headers: { host: 'files.example' },
    })
    const { file, token } = (await answer.json()) as { file: string; token: string }
    bytes = `/v2/${file}?token=${token}`
  })

  const at = (host: string, path: string) => get(split, path, `HTTP/1.1\r\nHost: ${host}`)

  test('bytes are served there and nowhere else', async () => {
    for (const host of ['content.example', 'CONTENT.example', 'content.example:443']) {
      expect(await at(host, bytes)).toMatchObject({ status: 200, body: 'x' })
    }
    for (const host of ['files.example', 'localhost', 'content.example.evil.example', '127.0.0.1']) {
      expect((await at(host, bytes)).status).toBe(404)
    }
    expect((await get(split, bytes, 'HTTP/1.0')).status).toBe(404)
  })

  test('the site is served at every other name and not there', async () => {
    const pages = [
      '/',
      `/d/${slug}`,
      '/sign-in',
      '/api/v1/account',
      '/api/v1/openapi.json',
      '/assets/x.js',
      '/nothing',
    ]
    for (const path of pages) {
      const there = await at('content.example', `${path}`)
      expect(there).toMatchObject({ status: 404, body: { error: 'NOT_FOUND' } })
    }
    for (const host of ['files.example', 'another.example']) {
      expect((await at(host, `/d/${slug}`)).status).toBe(200)
    }
    expect((await get(split, `/d/${slug}`, 'HTTP/1.0')).status).toBe(200)
  })

  test('thumbnails, /health and /ready are served at both', async () => {
    for (const path of [thumbnail, '/health', '/ready']) {
      for (const host of ['content.example', 'files.example']) {
        expect((await at(host, path)).status).toBe(200)
      }
    }
  })
})

describe('headers for browsers', () => {
  const headersOf = async (host: TestHoldfast, path: string) =>
    (await fetch(`${host.url}${path}`, { headers: { accept: 'text/html' } })).headers

  test('tell them to use HTTPS alone where the public address does', async () => {
    for (const path of ['/', '/health', '/nothing']) {
      expect((await headersOf(split, path)).get('strict-transport-security')).toBe('max-age=31536000')
      expect((await headersOf(plain, path)).get('strict-transport-security')).toBeNull()
    }
  })

  test('keep pages apart from windows of other sites', async () => {
    for (const path of ['/', '/sign-in', '/nothing']) {
      expect((await headersOf(plain, path)).get('cross-origin-opener-policy')).toBe('same-origin')
    }
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Holdfast, startHoldfast } from '../../../src/app.ts'
import { loadConfig, settingsInForce } from '../../../src/config.ts'
import { markDamaged, markVerified } from '../../../src/core/damage.rows.ts'
import { COMMAND_LINE } from '../../../src/domain/audit.ts'
import { systemClock } from '../../../src/domain/clock.ts'
import type { Sha256, Slug } from '../../../src/domain/ids.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { createLog } from '../../../src/log.ts'
import { openAdministration } from '../../../src/operations/administration.ts'
import { createTakeDowns } from '../../../src/sharing/take-downs.ts'
import { connect, type StorageOptions } from '../../../src/storage.ts'
import { eventually } from '../../support/eventually.ts'
import { runProgram } from '../../support/processes/program.ts'
import { testWith } from '../../support/processes/tools.ts'
import { newBucket, whyNoCeph } from '../../support/storage/ceph.ts'

const reason = whyNoCeph()
if (reason !== null) console.error(`Not run: downloads sent on to the store. ${reason}`)

test.skipIf(reason === null || process.env.CI !== 'true')('an S3 store for these tests is there', () => {
  expect(reason).toBeNull()
})

describe.skipIf(reason !== null)('with HOLDFAST_S3_REDIRECT', () => {
  let host: Holdfast
  let apiKey: string
  let parts: StorageOptions
  let endpoint: string
  const open = new AsyncDisposableStack()

  beforeAll(async () => {
    const dataDir = open.adopt(await mkdtemp(join(tmpdir(), 'holdfast-test-')), (path) =>
      rm(path, { recursive: true, force: true }),
    )
    const s3 = await newBucket()
    endpoint = s3.endpoint
    const config = { ...loadConfig({}), port: 0, dataDir, s3, s3Redirect: true }
    parts = { config, clock: systemClock, random: systemRandom }
    host = open.adopt(
      await startHoldfast({
        ...parts,
        settings: settingsInForce({}),
        log: createLog('silent', { terminal: false }),
      }),
      (it) => it.stop(),
    )
    const administration = open.adopt(await openAdministration(parts, { mayBegin: true }), (it) => it.close())
    apiKey = (await administration.accounts.add('alice')).apiKey
  })
  afterAll(() => open.disposeAsync())

  const content = 'The quick brown fox jumps over the lazy dog.'
  const manual = { redirect: 'manual' } as const

  /** The slug of a fresh file, and the address of its bytes. */
  async function stored(
    name: string,
    download = true,
    text = content,
  ): Promise<{ slug: string; bytes: string }> {
    const form = new FormData()
    form.append('file', new File([text], name))
    const headers = { Authorization: `Bearer ${apiKey}` }
    const sent = await fetch(`${host.url}/api/v1/upload`, { method: 'POST', body: form, headers })
    const { slug } = (await sent.json()) as { slug: string }
    const signed = await fetch(`${host.url}/v2/api/public/${download ? 'download' : 'view'}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ file_slug: slug }),
    })
    const { server, file, token } = (await signed.json()) as { server: string; file: string; token: string }
    return { slug, bytes: `${server}/v2/${file}?token=${token}${download ? '&download=true' : ''}` }
  }

  test('the address of a content that is marked as damaged leads nowhere', async () => {
    const { slug, bytes } = await stored('lost.txt')
    expect((await fetch(bytes, manual)).status).toBe(302)
    const { db, close } = await connect({ ...parts, report() {} })
    try {
      const copies = db.selectFrom('files').innerJoin('blobs', 'blobs.id', 'files.blob_id')
      const copy = await copies
        .select(['blobs.id', 'blobs.key'])
        .where('slug', '=', slug as Slug)
        .executeTakeFirstOrThrow()
      await markDamaged(db, copy, 'hash', 1)
      const answer = await fetch(bytes, manual)
      expect(answer.status).toBe(500)
      expect(await answer.json()).toMatchObject({ error: 'FILE_DAMAGED' })
      await markVerified(db, [copy], 2)
      expect((await fetch(bytes, manual)).status).toBe(302)
    } finally {
      await close()
    }
  })

  test('the address of a content leads to the store, for half an hour', async () => {
    const { bytes } = await stored('fox.txt')
    const answer = await fetch(bytes, manual)
    expect(answer.status).toBe(302)
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    const location = new URL(answer.headers.get('location') ?? '')
    expect(location.origin).toBe(endpoint)
    expect(location.searchParams.get('X-Amz-Expires')).toBe('1800')
  })

  test('who follows it gets the bytes, their type and their name', async () => {
    const { bytes } = await stored('Füchse & Hunde.txt')
    const answer = await fetch(bytes)
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe(content)
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(answer.headers.get('content-disposition')).toStartWith('attachment; ')
    expect(answer.headers.get('content-disposition')).toContain(
      "filename*=UTF-8''F%C3%BCchse%20%26%20Hunde.txt",
    )
  })

  test('scripts of a page, which may not read from the store, get the bytes here', async () => {
    const { slug } = await stored('fox.txt')
    const page = await (await fetch(`${host.url}/d/${slug}`)).text()
    const [, told = ''] = /<script[^>]* id="page-data"[^>]*>(.*?)<\/script>/.exec(page) ?? []
    const { preview } = JSON.parse(told) as { preview: { url: string } }
    const answer = await fetch(preview.url, { ...manual, headers: { Range: 'bytes=4-8' } })
    expect(answer.status).toBe(206)
    expect(await answer.text()).toBe('quick')
  })

  test('a range is asked of the store', async () => {
    const { bytes } = await stored('fox.txt')
    const answer = await fetch(bytes, { headers: { Range: 'bytes=4-8' } })
    expect(answer.status).toBe(206)
    expect(await answer.text()).toBe('quick')
  })

  test('what is watched comes through the node, which can end it', async () => {
    const { slug, bytes } = await stored('film.mp4', false)
    for (const address of [bytes, `${host.url}/d/${slug}?view=1`, `${host.url}/d/${slug}?raw=1`]) {
      const answer = await fetch(address, { headers: { Range: 'bytes=4-8' } })
      expect([answer.status, answer.url.startsWith(endpoint)]).toEqual([206, false])
      expect(await answer.text()).toBe('quick')
    }
  })

  test('what not anybody may open comes through the node: private, locked, and by a made link', async () => {
    const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' }
    const send = async (path: string, body: object): Promise<unknown> =>
      (await fetch(host.url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json()
    const addresses: string[] = []
    for (const terms of [{ public: 0 }, { password: 'kelp' }]) {
      const { slug } = await stored('fox.txt')
      const made = (await send('/api/v1/folder', { name: crypto.randomUUID(), ...terms })) as {
        data: { identifier: string }
      }
      await send('/api/v1/file/move', { file: slug, folder: made.data.identifier })
      const to = await fetch(`${host.url}/d/${slug}?download=1`, { ...manual, headers })
      addresses.push(to.headers.get('location') ?? '')
    }
    const { slug } = await stored('fox.txt')
    const link = (await send('/api/v1/links', { files: [slug] })) as { data: { slug: string } }
    const to = await fetch(`${host.url}/l/${link.data.slug}?download=1`, manual)
    addresses.push(to.headers.get('location') ?? '')
    for (const address of addresses) {
      const answer = await fetch(address, manual)
      expect([answer.status, await answer.text()]).toEqual([200, content])
    }
  })

  testWith(
    ['curl', 'aria2c'],
    'curl and aria2c go on with what they broke off, past the redirect',
    async () => {
      const large = randomBytes(6_000_000).toString('hex')
      const { slug } = await stored('large.txt', true, large)
      const address = `${host.url}/d/${slug}?download=1`
      const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'))
      const path = join(folder, 'large.txt')
      await Bun.write(path, large.slice(0, 5_000_000))
      expect((await runProgram(['curl', '-sSfLC', '-', '-o', path, address])).code).toBe(0)
      expect(await Bun.file(path).text()).toBe(large)
      await Bun.write(path, large.slice(0, 5_000_000))
      const options = ['-c', '-x4', '-s4', '-k1M', '--quiet', '-d', folder, '-o', 'large.txt']
      expect((await runProgram(['aria2c', ...options, address])).code).toBe(0)
      expect(await Bun.file(path).text()).toBe(large)
      await rm(folder, { recursive: true })
    },
  )

  test('a take-down removes the object, and so ends an address at the store', async () => {
    const unique = `content ${crypto.randomUUID()}`
    const { bytes } = await stored('bad.txt', true, unique)
    const location = (await fetch(bytes, manual)).headers.get('location') ?? ''
    expect((await fetch(location)).status).toBe(200)
    const sha256 = Bun.SHA256.hash(unique, 'hex') as Sha256
    const { db, close } = await connect({ ...parts, report() {} })
    try {
      await createTakeDowns(db, systemClock, () => {}).content(COMMAND_LINE, sha256)
      // Its row is gone at once, and its bytes are due.
      expect(await db.selectFrom('blobs').select('id').where('sha256', '=', sha256).execute()).toEqual([])
      await eventually('the object is gone', async () => (await fetch(location)).status === 404, 40)
    } finally {
      await close()
    }
  }, 60_000)

  test('what is not safe to show is sent as an attachment', async () => {
    const { bytes } = await stored('page.html', false)
    const answer = await fetch(bytes)
    expect(await answer.text()).toBe(content)
    expect(answer.headers.get('content-disposition')).toStartWith('attachment')
  })

  test('conditions and HEAD are answered here', async () => {
    const { bytes } = await stored('fox.txt')
    const head = await fetch(bytes, { method: 'HEAD', ...manual })
    expect(head.status).toBe(200)
    expect(head.headers.get('content-length')).toBe(String(content.length))
    const etag = head.headers.get('etag') ?? ''
    const same = await fetch(bytes, { headers: { 'If-None-Match': etag }, ...manual })
    expect(same.status).toBe(304)
  })

  test('a file that was deleted leads nowhere', async () => {
    const { slug, bytes } = await stored('fox.txt')
    await fetch(`${host.url}/file/delete`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ identifiers: [slug] }),
    })
    expect((await fetch(bytes, manual)).status).toBe(404)
  })

  test('a page may show pictures from the store', async () => {
    const { slug } = await stored('picture.png')
    const page = await fetch(`${host.url}/d/${slug}`)
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy.split('; ').find((rule) => rule.startsWith('img-src'))).toContain(endpoint)
  })

  test('a download is counted once when it is sent on, and its probes and later parts are not', async () => {
    const { slug, bytes } = await stored('fox.txt')
    for (const range of ['bytes=0-0', 'bytes=0-1', 'bytes=10-']) await fetch(bytes, { headers: { range } })
    await fetch(bytes)
    await host.flush()
    const detail = await fetch(`${host.url}/api/v1/file/${slug}`, {
      headers: { Authorization: `Bearer ${apiKey}` },
    })
    const { data } = (await detail.json()) as { data: { downloads: number } }
    expect(data.downloads).toBe(1)
  })
})

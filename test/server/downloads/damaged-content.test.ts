/** Truncated content: what the store has lost of a file is never sent as the whole of it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { markDamaged, markVerified } from '../../../src/core/damage.rows.ts'
import type { Slug } from '../../../src/domain/ids.ts'
import {
  api,
  detail,
  GENEROUS,
  makeFolder,
  randomBytes,
  signedAddress,
  type Uploaded,
  upload,
  visit,
} from '../../support/clients/public.ts'
import { thumbnailOf } from '../../support/clients/thumbnails.ts'
import { picture } from '../../support/contents/pictures.ts'
import { eventually } from '../../support/eventually.ts'
import { type KeptLog, keptLog } from '../../support/kept-log.ts'
import { atNode, onCluster, startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'

const MIB = 1024 * 1024

let host: TestHoldfast
let log: KeptLog
let key: string
beforeAll(async () => {
  log = keptLog()
  host = await startHoldfast(GENEROUS, log)
  key = (await host.addAccount('owner')).apiKey
})
afterAll(() => host.stop())

function blobOf({ slug }: Pick<Uploaded, 'slug'>) {
  return host.database
    .selectFrom('files')
    .innerJoin('blobs', 'blobs.id', 'files.blob_id')
    .leftJoin('thumbnails', 'thumbnails.blob_id', 'blobs.id')
    .select(['blobs.id', 'blobs.key', 'thumbnails.key as thumbnail'])
    .where('slug', '=', slug as Slug)
    .executeTakeFirstOrThrow()
}

/** The line of the log that tells of the file, in the answer with that id. */
function told(slug: string, id: string | null) {
  return log.lines.find(({ fields }) => fields.slug === slug && (id === null || fields.id === id))
}

for (const [name, size] of [
  ['a small file', 5000],
  ['a large file', 2 * MIB],
] as const) {
  for (const [state, left] of [
    ['cut off', size - 100],
    ['empty', 0],
    ['missing', null],
  ] as const) {
    test(`truncated content: ${name} that is ${state} in the store is a failure, whole and in part`, async () => {
      const file = await upload(host, { key, bytes: randomBytes(size) })
      const { key: blob } = await blobOf(file)
      const address = await signedAddress(host, file, 'download')
      await host.cutBlob(blob, left)
      for (const range of [null, 'bytes=0-9', `bytes=${size - 10}-`, `bytes=${size - 200}-`]) {
        const response = await visit(host, address, { headers: range === null ? {} : { range } })
        expect({ range, status: response.status }).toEqual({ range, status: 500 })
        expect(await response.json()).toMatchObject({ success: false, error: 'FILE_DAMAGED' })
        expect(response.headers.get('repr-digest')).toBeNull()
        expect(told(file.slug, response.headers.get('x-request-id'))).toMatchObject({
          level: 'error',
          fields: { file: file.file_id },
        })
      }
      const page = await visit(host, address, { headers: { accept: 'text/html' } })
      expect(page.status).toBe(500)
      expect(await page.text()).toContain('This file is damaged')
      await host.settle()
      expect(await detail(host, key, file)).toMatchObject({ downloads: 0, views: 0 })
    })
  }
}

test('a content that is marked as damaged is not sent, although its bytes are there', async () => {
  const file = await upload(host, { key, bytes: randomBytes(5000) })
  const address = await signedAddress(host, file, 'download')
  const etag = (await visit(host, address)).headers.get('etag') ?? ''
  const { id, key: blob } = await blobOf(file)
  expect(await markDamaged(host.database, { id, key: blob }, 'hash', 1)).toBe(true)
  const asked: Record<string, string>[] = [{}, { range: 'bytes=0-9' }, { 'if-none-match': etag }]
  for (const headers of asked) {
    const response = await visit(host, address, { headers })
    expect(response.status).toBe(500)
    expect(await response.json()).toMatchObject({ success: false, error: 'FILE_DAMAGED' })
    expect(told(file.slug, response.headers.get('x-request-id'))).toMatchObject({ level: 'error' })
  }
  expect((await visit(host, address, { method: 'HEAD' })).status).toBe(500)
  const page = await visit(host, `/d/${file.slug}`, { headers: { accept: 'text/html' } })
  expect(page.status).toBe(500)
  const html = await page.text()
  expect(html).toContain('This file is damaged')
  expect(html).toContain('Ask the person who shared it to upload it again')
  expect(html).not.toContain(`href="/d/${file.slug}?download=1"`)
  const answer = await api(host, key, 'GET', `/api/v1/file/${file.slug}`)
  expect(answer).toMatchObject({ status: 200, body: { data: { damaged: true, views: 0 } } })
  await markVerified(host.database, [{ id, key: blob }], 2)
  expect((await visit(host, address)).status).toBe(200)
  expect((await visit(host, `/d/${file.slug}`)).status).toBe(200)
  const { body } = await api(host, key, 'GET', `/api/v1/file/${file.slug}`)
  expect(JSON.stringify(body)).not.toContain('damaged')
})

/** Reads the beginning of a GET on a connection that is to be kept; `rest` reads until the server closes it. */
async function beginDownload(address: string) {
  const { hostname, port, pathname, search } = new URL(address)
  const socket = connect(Number(port), hostname)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  let bytes = 0
  socket.on('data', (chunk) => {
    bytes += chunk.length
  })
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`)
  await new Promise((resolve) => socket.once('data', resolve))
  socket.pause()
  return {
    async rest(): Promise<number> {
      socket.resume()
      await closed
      return bytes
    },
  }
}

// An object of S3 is replaced as a whole, so what is being sent of it stays as it was.
test.skipIf(onCluster)(
  'truncated content: a download that has begun breaks off, and does not count',
  async () => {
    const size = 48 * MIB
    const file = await upload(host, { key, bytes: randomBytes(size) })
    const { key: blob } = await blobOf(file)
    const download = await beginDownload(await signedAddress(host, file, 'download'))
    await host.cutBlob(blob, size - 100)
    expect(await download.rest()).toBeLessThan(size)
    await eventually('the log tells of it', () => told(file.slug, null) !== undefined)
    expect(told(file.slug, null)).toMatchObject({ level: 'error', fields: { id: expect.any(String) } })
    await host.settle()
    expect(await detail(host, key, file)).toMatchObject({ downloads: 0, views: 0 })
  },
)

/** A zip of a good file and, behind it, one of which the store has lost a part. */
async function zipWithDamage(size: number) {
  const folder = await makeFolder(host, key)
  const good = await upload(host, { key, folder, name: '1.bin', bytes: randomBytes(size) })
  const bad = await upload(host, { key, folder, name: '2.bin', bytes: randomBytes(2 * MIB) })
  await host.cutBlob((await blobOf(bad)).key, MIB)
  return { good, bad, address: `${atNode(host).url}/f/${folder}?download=zip` }
}

test('truncated content: a zip that has begun breaks off, and counts what came before it alone', async () => {
  const { good, bad, address } = await zipWithDamage(8 * MIB)
  await expect(fetch(address).then((response) => response.bytes())).rejects.toThrow()
  await eventually('the log tells of it', () => told(bad.slug, null) !== undefined)
  expect(told(bad.slug, null)?.fields.id).toBeString()
  await host.settle()
  expect(await detail(host, key, good)).toMatchObject({ downloads: 1 })
  expect(await detail(host, key, bad)).toMatchObject({ downloads: 0 })
})

test('truncated content: a zip that has not begun is a failure, not an empty answer', async () => {
  const { bad, address } = await zipWithDamage(10)
  const response = await fetch(address)
  expect(response.status).toBe(500)
  expect(await response.json()).toMatchObject({ success: false, error: 'FILE_DAMAGED' })
  expect(told(bad.slug, response.headers.get('x-request-id'))).toBeDefined()
  await host.settle()
  expect(await detail(host, key, bad)).toMatchObject({ downloads: 0 })
})

test('truncated content: a thumbnail gives way to the icon, and is made anew', async () => {
  const bytes = await picture('png', 600, 400)
  const file = await upload(host, { key, name: 'picture.png', bytes })
  await thumbnailOf(host, key, file)
  const { thumbnail } = await blobOf(file)
  if (thumbnail === null) throw new Error('there is no thumbnail')
  await host.cutBlob(thumbnail, 20)
  expect((await visit(host, file.thumbnail_url)).headers.get('content-type')).toBe('image/svg+xml')
  expect((await thumbnailOf(host, key, file)).length).toBeGreaterThan(20)
})

/** What an upload is to its owner and to others before it is a file, and what outlives the server. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import type { FolderIdentifier } from '../../../../src/domain/ids.ts'
import { chance } from '../../../support/chance.ts'
import { type Api, api, newcomer, refusal, withHoldfast } from '../../../support/clients/api.ts'
import { intoBin, restore } from '../../../support/clients/bin.ts'
import { readBack, sha256 } from '../../../support/clients/caller.ts'
import { metadata, type Tus, tus, UPLOADS } from '../../../support/clients/tus.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const MB = 1024 * 1024
const random = chance(10)

let caller: Api
let client: Tus
const holdfast = await hostOfFile()
beforeAll(async () => {
  caller = await newcomer(holdfast)
  client = tus(caller)
})

const list = z.object({
  data: z.array(z.object({ slug: z.string(), received: z.number(), status: z.string() })),
})

describe('an upload whose bytes are still coming', () => {
  test('is listed for its owner, and is no file', async () => {
    const own = await newcomer(holdfast)
    const { path, slug } = await tus(own).start(10, { filename: 'half.txt' })
    await tus(own).patch(path, 0, random.bytes(4))
    await client.start(10)
    const answer = await own.get(UPLOADS)
    expect(list.parse(answer.body).data).toEqual([{ slug, received: 4, status: 'uploading' }])
    expect(JSON.stringify(answer.body)).not.toContain(path.slice(-32))
    expect(await own.get('/api/v1/files')).toMatchObject({ body: { data: [] } })
    expect(await own.get('/api/v1/account')).toMatchObject({
      body: { data: { files_count: 0, storage_used: 0 } },
    })
    expect(await own.get(`/api/v1/file/${slug}`)).toMatchObject(refusal('FILE_NOT_FOUND'))
    await tus(own).patch(path, 4, random.bytes(6))
    expect(await own.get(UPLOADS)).toMatchObject({ body: { data: [] } })
  })

  test('is listed with the folder that it named, however it named it, and the path below that', async () => {
    const own = await newcomer(holdfast)
    const folder = await own.folder('Named')
    const headers = { 'upload-length': '1', 'x-folder-id': folder }
    await tus(own).create({ ...headers, 'upload-metadata': metadata({ filename: 'a' }) })
    await tus(own).create({ ...headers, 'upload-metadata': metadata({ relativePath: 'b/c/d' }) })
    await tus(own).start(1, { folder, relativePath: 'b/e' })
    await tus(own).start(1, { relativePath: 'b/f' })
    await tus(own).start(1)
    expect(await own.get(UPLOADS)).toMatchObject({
      body: {
        data: [
          { folder, path: null },
          { folder, path: 'b/c/d' },
          { folder, path: 'b/e' },
          { folder: null, path: 'b/f' },
          { folder: null, path: null },
        ],
      },
    })
  })

  test('can be ended by its owner who has lost its address, and by nobody else', async () => {
    const own = await newcomer(holdfast)
    const { path, slug } = await tus(own).start(10)
    await tus(own).patch(path, 0, random.bytes(4))
    const cancel = (who: Api) => who.post('/api/v1/upload/cancel', { slug })
    expect(await cancel(caller)).toMatchObject(refusal('UPLOAD_NOT_FOUND'))
    expect(await cancel(own)).toMatchObject({ status: 200, body: { success: true } })
    expect(await own.get(UPLOADS)).toMatchObject({ body: { data: [] } })
    expect(await tus(own).look(path)).toMatchObject({ status: 404 })
    expect(await cancel(own)).toMatchObject(refusal('UPLOAD_NOT_FOUND'))
    expect(await own.post('/api/v1/upload/cancel', {})).toMatchObject(refusal('INVALID_REQUEST'))
  })

  test('goes on where the list says for its owner who may manage things, and for nobody else', async () => {
    const { username, apiKey } = await holdfast.addAccount()
    const own = api(holdfast, apiKey)
    const bytes = random.bytes(10)
    const inside = await own.folder('Inside')
    const about = { lastModified: '1700000000123', folder: inside, relativePath: 'films/one.mkv' }
    const { path, slug } = await tus(own).start(10, about)
    const listed = z.object({ data: z.tuple([z.object({ location: z.string() })]) })
    const at = listed.parse((await own.get(UPLOADS)).body).data[0].location
    await tus(own).patch(path, 0, bytes.slice(0, 4))
    const folder = await own.folder('Elsewhere')
    const uploads = api(holdfast, await holdfast.addKey(username, { scopes: ['read', 'upload'] }))
    const bound = api(holdfast, await holdfast.addKey(username, { folder: folder as FolderIdentifier }))
    for (const [who, error] of [
      [caller, 'UPLOAD_NOT_FOUND'],
      [api(holdfast), 'UPLOAD_NOT_FOUND'],
      [bound, 'UPLOAD_NOT_FOUND'],
      [uploads, 'SCOPE_MISSING'],
    ] as const) {
      expect(await tus(who).look(at)).toMatchObject(refusal(error))
      expect(await tus(who).head(at)).toMatchObject({ status: refusal(error).status })
      expect(await tus(who).patch(at, 4, bytes.slice(4))).toMatchObject(refusal(error))
      expect(await tus(who).remove(at)).toMatchObject(refusal(error))
    }
    expect(await own.get(UPLOADS)).toMatchObject({
      body: { data: [{ last_modified: 1_700_000_000_123, folder: inside, path: about.relativePath }] },
    })
    expect(await tus(own).offset(at)).toBe(4)
    expect(await tus(own).patch(at, 4, bytes.slice(4))).toMatchObject({ status: 204 })
    for (const address of [at, path]) {
      expect(await tus(own).look(address)).toMatchObject({ body: { status: 'completed', slug } })
    }
    expect(await readBack(holdfast.url, slug)).toEqual({ size: 10, sha256: sha256(bytes) })
    const given = await tus(own).start(10, { lastModified: 'yesterday' })
    expect(await tus(own).look(given.path)).toMatchObject({ body: { last_modified: null } })
    expect(await tus(own).remove(given.path)).toMatchObject({ status: 204 })
  })

  test('is not found by its link, by anybody', async () => {
    const guest = await tus(api(holdfast)).start(10)
    const own = await client.start(10)
    for (const slug of [guest.slug, own.slug]) {
      for (const who of [api(holdfast), caller]) {
        expect(await tus(who).look(`${UPLOADS}/${slug}`)).toMatchObject(refusal('UPLOAD_NOT_FOUND'))
      }
    }
    await client.remove(own.path)
  })

  test('has a status for its owner alone', async () => {
    const { path, slug } = await client.start(10)
    await client.patch(path, 0, random.bytes(4))
    const status = `/api/v1/upload/status?slug=${slug}`
    expect(await caller.get(status)).toMatchObject({
      body: { slug, status: 'uploading', received: 4, size: 10 },
    })
    expect(await (await newcomer(holdfast)).get(status)).toMatchObject(refusal('FILE_NOT_FOUND'))
    await client.patch(path, 4, random.bytes(6))
    expect(await caller.get(status)).toMatchObject({ body: { status: 'completed', received: 10, size: 10 } })
  })

  test('has a page that says so, and no bytes yet', async () => {
    const { path, slug } = await client.start(10, { filename: 'some name.txt' })
    const page = await fetch(`${holdfast.url}/d/${slug}`, { headers: { accept: 'text/html' } })
    const text = await page.text()
    expect(page.status).toBe(200)
    expect(text).toContain('still being uploaded')
    expect(text).toContain('some name.txt')
    expect(await caller.get(`/d/${slug}?download=1`)).toMatchObject(refusal('FILE_ARRIVING'))
    const signed = await api(holdfast).post('/v2/api/public/download', { file_slug: slug })
    expect(signed).toMatchObject(refusal('FILE_ARRIVING'))
    expect(signed.headers.get('retry-after')).toMatch(/^\d+$/)
    await client.patch(path, 0, random.bytes(10))
    expect(await (await fetch(`${holdfast.url}/d/${slug}`)).text()).toContain('some name.txt')
  })

  test('into a private folder has no page for others', async () => {
    const folder = await caller.folder('private', { public: 0 })
    const { slug } = await client.start(10, { folder })
    expect((await fetch(`${holdfast.url}/d/${slug}`)).status).toBe(404)
    expect(await caller.get(`/d/${slug}`)).toMatchObject({ status: 200 })
  })

  test('into a folder below a deleted one has none for anybody, not even its owner', async () => {
    const outer = await caller.folder('outer')
    const { slug } = await client.start(10, { folder: await caller.folder('inner', { parent: outer }) })
    const download = () => caller.get(`/d/${slug}?download=1`)
    expect(await download()).toMatchObject(refusal('FILE_ARRIVING'))
    await caller.post('/api/v1/folder/delete', { identifiers: [outer] })
    expect(await download()).toMatchObject(refusal('FILE_NOT_FOUND'))
  })
})

describe('an upload that has ended', () => {
  test('answers as a plain upload does, again and again, until its file is gone', async () => {
    const content = random.bytes(10)
    const { path, slug } = await client.start(10, { filename: 'a.txt' })
    await client.patch(path, 0, content)
    for (let times = 0; times < 2; times++) {
      expect(await client.look(path)).toMatchObject({
        status: 200,
        body: {
          success: true,
          message: 'File uploaded',
          slug,
          size: 10,
          sha256: sha256(content),
          status: 'completed',
        },
      })
    }
    expect((await client.patch(path, 10, new Uint8Array())).status).toBe(204)
    await caller.post('/file/delete', { identifiers: [slug] })
    expect(await client.look(path)).toMatchObject(refusal('UPLOAD_GONE'))
  })
})

describe('an upload whose folder is not there', () => {
  test('takes no bytes, keeps what it has, and goes on when the folder is restored', async () => {
    const own = await newcomer(holdfast)
    const folder = await own.folder('binned')
    const content = random.bytes(10)
    // The folder of the file is below the one that goes.
    const { path, slug } = await tus(own).start(10, { folder, relativePath: 'below/a.bin' })
    await tus(own).patch(path, 0, content.slice(0, 5))
    const entries = await intoBin(own, { folders: [folder] })
    for (const end of [7, 10]) {
      expect(await tus(own).patch(path, 5, content.slice(5, end))).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    }
    expect(await tus(own).offset(path)).toBe(5)
    await holdfast.runJobs()
    expect(await tus(own).offset(path)).toBe(5)
    await restore(own, entries)
    expect((await tus(own).patch(path, 5, content.slice(5))).status).toBe(204)
    expect(await readBack(holdfast.url, slug)).toEqual({ size: 10, sha256: sha256(content) })
  })

  test('and whose parts are all there waits for it, and is finished afterwards', async () => {
    const own = await newcomer(holdfast)
    const folder = await own.folder('binned')
    const content = random.bytes(10)
    const parts = await Promise.all([0, 5].map(() => tus(own).start(5, {}, { 'upload-concat': 'partial' })))
    const concat = `final;${parts.map((part) => part.path).join(' ')}`
    const { headers } = await tus(own).create({ 'upload-concat': concat, 'x-folder-id': folder })
    const path = headers.get('location') ?? ''
    const entries = await intoBin(own, { folders: [folder] })
    for (const [index, part] of parts.entries()) {
      await tus(own).patch(part.path, 0, content.slice(index * 5, index * 5 + 5))
    }
    await holdfast.runJobs()
    expect(await tus(own).look(path)).toMatchObject({ body: { status: 'processing', received: 10 } })
    await restore(own, entries)
    expect(await tus(own).look(path)).toMatchObject({
      body: { status: 'completed', sha256: sha256(content) },
    })
  })
})

test('an upload goes on after the servers were restarted, and its hash is right', async () => {
  await withHoldfast({}, async (own) => {
    const by = tus(api(own))
    const content = random.bytes(12 * MB)
    const { path, slug } = await by.start(content.length)
    let offset = 0
    for (const end of [5 * MB, 6 * MB + 1, content.length]) {
      expect((await by.patch(path, offset, content.slice(offset, end))).status).toBe(204)
      offset = end
      if (end < content.length) await own.restart()
    }
    expect(await readBack(own.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })
    expect(await by.look(path)).toMatchObject({ body: { sha256: sha256(content) } })
  })
})

describe('the rate of a key', () => {
  test('counts the start of an upload, and none of the requests that bring its bytes', async () => {
    await withHoldfast({ rateLimit: 5 }, async (own) => {
      const by = await newcomer(own)
      const used = async (answer: { headers: Headers }) =>
        5 - Number(answer.headers.get('ratelimit-remaining'))
      const started = await tus(by).create({
        'upload-length': '20',
        'upload-metadata': metadata({ filename: 'a' }),
      })
      expect(await used(started)).toBe(1)
      const path = started.headers.get('location') ?? ''
      for (let offset = 0; offset < 20; offset++) {
        const patched = await tus(by).patch(path, offset, random.bytes(1))
        expect({ status: patched.status, used: await used(patched) }).toEqual({ status: 204, used: 1 })
      }
      expect(await used(await tus(by).head(path))).toBe(2)
    })
  })
})

test('guests are told by the same limits as with plain uploads', async () => {
  await withHoldfast({ guestRateLimit: 2, guestHourlySize: 10 * MB }, async (own) => {
    const guest = tus(api(own))
    const [first, second] = [await guest.start(6 * MB), await guest.start(6 * MB)]
    expect(await guest.patch(first.path, 0, new Uint8Array(6 * MB))).toMatchObject({ status: 204 })
    const refused = await guest.patch(second.path, 0, new Uint8Array(6 * MB))
    expect(refused).toMatchObject(refusal('RATE_LIMITED'))
    expect(await guest.offset(second.path)).toBeLessThanOrEqual(4 * MB)
    expect(await guest.create({ 'upload-length': '1' })).toMatchObject(refusal('RATE_LIMITED'))
  })
  await withHoldfast({ guestUploads: false }, async (own) => {
    const answer = await tus(api(own)).create({ 'upload-length': '1' })
    expect(answer).toMatchObject(refusal('GUEST_UPLOADS_DISABLED'))
  })
})

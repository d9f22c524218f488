/** The extensions creation, creation-with-upload and creation-defer-length, and what an upload is told by its metadata. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { chance } from '../../../support/chance.ts'
import { folders } from '../../../support/clients/answers.ts'
import { type Api, api, newcomer, refusal } from '../../../support/clients/api.ts'
import { readBack, sha256 } from '../../../support/clients/caller.ts'
import { metadata, type Tus, tus } from '../../../support/clients/tus.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const MB = 1024 * 1024
const random = chance(5)

let caller: Api
let client: Tus
const holdfast = await hostOfFile({ maxFileSize: 20 * MB, storageLimit: 30 * MB })
beforeAll(async () => {
  caller = await newcomer(holdfast)
  client = tus(caller)
})

describe('POST', () => {
  test('answers 201 with an address of its own, and the link that the file will have', async () => {
    const answer = await client.create({
      'upload-length': '10',
      'upload-metadata': metadata({ filename: 'a.txt' }),
    })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('location')).toMatch(/^\/api\/v1\/uploads\/[0-9a-f]{32}$/)
    expect(answer.headers.get('tus-resumable')).toBe('1.0.0')
    const slug = answer.headers.get('holdfast-slug') ?? ''
    expect(slug).toMatch(/^[A-Za-z][A-Za-z0-9]{11}$/)
    expect(answer.headers.get('location')).not.toContain(slug)
    expect(answer.headers.get('holdfast-url')).toEndWith(`/d/${slug}`)
    expect(answer.body).toMatchObject({ success: true, status: 'uploading', slug, received: 0, size: 10 })
  })

  test('of an empty file makes it at once', async () => {
    const { path, slug } = await client.start(0, { filename: 'empty.txt' })
    expect(await readBack(holdfast.url, slug)).toEqual({ size: 0, sha256: sha256(new Uint8Array()) })
    expect(await client.offset(path)).toBe(0)
  })

  test('without a length, with two, or with one that is no number is 400', async () => {
    const lengths: Record<string, string>[] = [
      {},
      { 'upload-length': '1', 'upload-defer-length': '1' },
      { 'upload-defer-length': '0' },
      { 'upload-length': '-1' },
      { 'upload-length': '1e3' },
    ]
    for (const headers of lengths)
      expect(await client.create(headers)).toMatchObject(refusal('INVALID_REQUEST'))
  })

  test('of more than the largest size is 413, and of more than there is room for', async () => {
    expect(await client.create({ 'upload-length': String(20 * MB + 1) })).toMatchObject(
      refusal('FILE_TOO_LARGE'),
    )
    const other = tus(await newcomer(holdfast))
    await other.start(20 * MB)
    const answer = await other.create({ 'upload-length': String(11 * MB) })
    expect(answer).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
    expect(answer.body).toMatchObject({ message: expect.stringContaining('uploads under way hold 20 MB') })
    await other.start(10 * MB)
  })

  test('with metadata that cannot be read is 400', async () => {
    for (const text of ['filename ###', 'filename YQ==,filename YQ==', 'a b c', 'filename YQ=']) {
      const answer = await client.create({ 'upload-length': '1', 'upload-metadata': text })
      expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
    }
  })

  test('takes a key without a value', async () => {
    const answer = await client.create({
      'upload-length': '1',
      'upload-metadata': 'is_confidential,filename YQ==',
    })
    expect(answer.status).toBe(201)
  })
})

describe('creation with bytes', () => {
  test('takes a part of them', async () => {
    const content = random.bytes(100)
    const answer = await client.create({ 'upload-length': '100' }, content.slice(0, 30))
    expect(answer.status).toBe(201)
    expect(answer.headers.get('upload-offset')).toBe('30')
    const path = answer.headers.get('location') ?? ''
    expect((await client.patch(path, 30, content.slice(30))).headers.get('upload-offset')).toBe('100')
    expect(await client.look(path)).toMatchObject({ body: { status: 'completed', sha256: sha256(content) } })
  })

  test('takes all of them, and the file is there', async () => {
    const content = random.bytes(2 * MB)
    const answer = await client.create({ 'upload-length': String(content.length) }, content)
    expect(answer).toMatchObject({ status: 201, body: { status: 'completed', received: content.length } })
    expect(await readBack(holdfast.url, answer.headers.get('holdfast-slug') ?? '')).toEqual({
      size: content.length,
      sha256: sha256(content),
    })
  })
})

describe('an upload of unknown length', () => {
  test('says so until it is told, and is a file when all of it is here', async () => {
    const content = random.bytes(9 * MB)
    const { path, slug } = await client.start(null)
    expect((await client.head(path)).headers.get('upload-defer-length')).toBe('1')
    await client.patch(path, 0, content.slice(0, 8 * MB))
    const told = { 'upload-length': String(content.length) }
    const answer = await client.patch(path, 8 * MB, content.slice(8 * MB, 8 * MB + 5), told)
    expect(answer.status).toBe(204)
    const head = await client.head(path)
    expect(head.headers.get('upload-length')).toBe(String(content.length))
    expect(head.headers.get('upload-defer-length')).toBeNull()
    await client.patch(path, 8 * MB + 5, content.slice(8 * MB + 5))
    expect(await readBack(holdfast.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })
  })

  test('is whole when its length turns out to be what is here', async () => {
    const content = random.bytes(10)
    const { path, slug } = await client.start(null)
    await client.patch(path, 0, content)
    await client.patch(path, 10, new Uint8Array(), { 'upload-length': '10' })
    expect(await readBack(holdfast.url, slug)).toEqual({ size: 10, sha256: sha256(content) })
  })

  test('may not be told another length, or one that is too large', async () => {
    const { path } = await client.start(null)
    await client.patch(path, 0, random.bytes(5), { 'upload-length': '10' })
    const another = await client.patch(path, 5, random.bytes(1), { 'upload-length': '11' })
    expect(another).toMatchObject(refusal('INVALID_REQUEST'))
    const { path: large } = await client.start(null)
    const answer = await client.patch(large, 0, random.bytes(5), { 'upload-length': String(21 * MB) })
    expect(answer).toMatchObject(refusal('FILE_TOO_LARGE'))
    const shorter = await client.patch(large, 0, random.bytes(5), { 'upload-length': '4' })
    expect(shorter).toMatchObject(refusal('PAYLOAD_TOO_LARGE'))
  })

  test('keeps what came before there was no more room', async () => {
    const other = tus(await newcomer(holdfast))
    await other.start(18 * MB)
    const { path } = await other.start(null)
    await other.patch(path, 0, random.bytes(10 * MB))
    const answer = await other.patch(path, 10 * MB, random.bytes(3 * MB))
    expect(answer).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
    expect(await other.offset(path)).toBeGreaterThanOrEqual(10 * MB)
  })
})

describe('metadata', () => {
  test('gives name, type and folder', async () => {
    const folder = await caller.folder('Pictures')
    const about = { filename: '../Ünder.jpeg', filetype: 'text/plain', folder }
    const { path, slug } = await client.start(3, about)
    await client.patch(path, 0, random.bytes(3))
    expect(await caller.get(`/api/v1/file/${slug}`)).toMatchObject({
      body: { data: { name: 'Ünder.jpeg', type: 'image/jpeg', folder_id: folder } },
    })
  })

  test('with a type that cannot be one is as good as none', async () => {
    for (const filetype of ['a\0b', '\r\nX: y', 'ä', 'x'.repeat(1000)]) {
      const { path, slug } = await client.start(3, { filename: 'no extension', filetype })
      expect((await client.patch(path, 0, random.bytes(3))).status).toBe(204)
      expect(await caller.get(`/api/v1/file/${slug}`)).toMatchObject({
        body: { data: { type: 'application/octet-stream' } },
      })
    }
  })

  test('naming a folder that is not the caller’s is 404', async () => {
    const folder = await (await newcomer(holdfast)).folder('Theirs')
    for (const each of [folder, 'z000000000000000']) {
      const answer = await client.create({
        'upload-length': '1',
        'upload-metadata': metadata({ folder: each }),
      })
      expect(answer).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    }
  })

  test('of a guest may name no folder', async () => {
    const guest = tus(api(holdfast))
    const answer = await guest.create({ 'upload-length': '1', 'upload-metadata': metadata({ folder: 'x' }) })
    expect(answer).toMatchObject(refusal('INVALID_API_KEY'))
  })

  test('is not the only way to name the folder: X-Folder-ID does, as with forms', async () => {
    const folder = await caller.folder('By header')
    const theirs = await (await newcomer(holdfast)).folder('Theirs')
    const create = (identifier: string, about: Record<string, string> = {}) => {
      const headers = { 'upload-length': '1', 'x-folder-id': identifier, 'upload-metadata': metadata(about) }
      return client.create(headers, random.bytes(1))
    }
    const placed = async (identifier: string, about?: Record<string, string>) => {
      const answer = await create(identifier, about)
      expect(answer).toMatchObject({ status: 201 })
      const { body } = await caller.get(`/api/v1/files?folder=${identifier || 'root'}&per_page=100`)
      const slug = answer.headers.get('holdfast-slug')
      expect(Object(body).data.some(({ url }: { url: string }) => url.endsWith(`/d/${slug}`))).toBe(true)
    }
    await placed(folder)
    await placed(folder, { folder })
    await placed('root')
    await placed('root', { folder: '' })
    for (const each of [theirs, 'z000000000000000']) {
      expect(await create(each)).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    }
    for (const [header, inMetadata] of [
      [folder, 'root'],
      ['root', folder],
      [folder, theirs],
    ] as const) {
      expect(await create(header, { folder: inMetadata })).toMatchObject(refusal('INVALID_REQUEST'))
    }
  })

  test('with X-Folder-ID beside it is refused of a guest, whatever that says', async () => {
    for (const folder of ['z000000000000000', 'root']) {
      const answer = await tus(api(holdfast)).create({ 'upload-length': '1', 'x-folder-id': folder })
      expect(answer).toMatchObject(refusal('INVALID_API_KEY'))
    }
  })

  test('with a path makes the folders on the way, once for many files at once', async () => {
    const other = await newcomer(holdfast)
    const top = await other.folder('top')
    const uploads = await Promise.all(
      Array.from({ length: 20 }, async (_, number) => {
        const about = { folder: top, relativePath: `a/b/${number % 4}/file ${number}.bin` }
        return tus(other).create(
          { 'upload-length': '1', 'upload-metadata': metadata(about) },
          random.bytes(1),
        )
      }),
    )
    expect(uploads.map(({ status }) => status)).toEqual(uploads.map(() => 201))
    const names = (await folders(other)).map(({ name }) => name).sort()
    expect(names).toEqual(['0', '1', '2', '3', 'a', 'b', 'top'])
    expect(await other.get('/api/v1/account')).toMatchObject({
      body: { data: { files_count: 20, folders_count: 7 } },
    })
    expect(await other.get('/api/v1/files?search=file%2019.bin')).toMatchObject({
      body: { data: [{ name: 'file 19.bin' }] },
    })
  })

  test('with a path that no folder can have is 400', async () => {
    for (const relativePath of ['../x/y', 'a/./b', `${'x'.repeat(101)}/b`, 'a\\b/c']) {
      const answer = await client.create({
        'upload-length': '1',
        'upload-metadata': metadata({ relativePath }),
      })
      expect(answer).toMatchObject(refusal('INVALID_NAME'))
    }
    const deep = metadata({ relativePath: `${'d/'.repeat(257)}x` })
    expect(await client.create({ 'upload-length': '1', 'upload-metadata': deep })).toMatchObject(
      refusal('MAX_DEPTH_EXCEEDED'),
    )
  })
})

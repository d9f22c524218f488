import { beforeEach, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import type { FolderIdentifier } from '../../../src/domain/ids.ts'
import { folders, list, names } from '../../support/clients/answers.ts'
import { type Api, api, refusal } from '../../support/clients/api.ts'
import { TUS, tus } from '../../support/clients/tus.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

/** above > bound > below, all private but `below`, with a file in each and one at top level. */
let owner: Api
let bound: Api
let above: string
let inside: string
let below: string
let files: { top: string; above: string; inside: string; below: string }
let boundKey: string

beforeEach(async () => {
  const { apiKey, username } = await holdfast.addAccount()
  owner = api(holdfast, apiKey)
  above = await owner.folder('above', { public: 0 })
  inside = await owner.folder('inside', { parent: above, public: 0 })
  below = await owner.folder('below', { parent: inside })
  const put = async (content: string, name: string, folder?: string) =>
    (await owner.put(content, { name, ...(folder === undefined ? {} : { folder }) })).slug
  files = {
    top: await put('1', 'file-top.txt'),
    above: await put('12', 'file-above.txt', above),
    inside: await put('123', 'file-inside.txt', inside),
    below: await put('1234', 'file-below.txt', below),
  }
  boundKey = await holdfast.addKey(username, { folder: inside as FolderIdentifier })
  bound = api(holdfast, boundKey)
})

const authorized = () => ({ authorization: `Bearer ${boundKey}` })
const visit = (address: string) =>
  fetch(new URL(address, holdfast.url), { redirect: 'manual', headers: authorized() })

const account = z.object({
  data: z.object({ storage_used: z.number(), files_count: z.number(), folders_count: z.number() }),
})
const numbers = async () => account.parse((await bound.get('/api/v1/account')).body).data

describe('a key for one folder', () => {
  test('lists the files in it and below it, in every order, and no others', async () => {
    expect((await names(bound, '')).sort()).toEqual(['file-below.txt', 'file-inside.txt'])
    expect((await list(bound, '?per_page=1&page=2&sort=size')).pagination).toEqual({
      page: 2,
      per_page: 1,
      total: 2,
      pages: 2,
    })
    expect(await names(bound, '?sort=size&order=desc')).toEqual(['file-below.txt', 'file-inside.txt'])
    expect(await names(bound, '?folder=root')).toEqual(['file-inside.txt'])
    expect(await names(bound, `?folder=${below}`)).toEqual(['file-below.txt'])
  })

  test.each(['file', 'fi', 'above'])('finds by "%s" nothing that is outside', async (search) => {
    const found = await list(bound, `?search=${search}`)
    expect(found.data.map(({ name }) => name).sort()).toEqual(
      search === 'above' ? [] : ['file-below.txt', 'file-inside.txt'],
    )
    expect(found.pagination.total).toBe(found.data.length)
  })

  test('lists its folder, without what is above, and those below', async () => {
    const listed = (await folders(bound)).map(({ id, parent, parent_id }) => ({ id, parent, parent_id }))
    expect(listed).toEqual([
      { id: inside, parent: null, parent_id: null },
      { id: below, parent: inside, parent_id: inside },
    ])
    expect((await folders(bound, '/api/v1/folders?parent=root')).map(({ id }) => id)).toEqual([below])
    expect((await folders(bound, `/api/v1/folder/${inside}/folders`)).map(({ id }) => id)).toEqual([below])
  })

  test('is told the numbers of its folder alone', async () => {
    expect(await numbers()).toEqual({ storage_used: 7, files_count: 2, folders_count: 2 })
  })

  test('gets a zip of its folder for all that it has', async () => {
    const response = await visit('/api/v1/folder/root/download')
    const zip = Buffer.from(await response.arrayBuffer()).toString('latin1')
    expect(zip).toContain('file-inside.txt')
    expect(zip).toContain('below/file-below.txt')
    expect(zip).not.toMatch(/file-above|file-top/)
  })

  test('uploads into its folder when no other is named, and makes folders there', async () => {
    const plain = await bound.put('x')
    const { path, slug } = await tus(bound).start(1, { relativePath: 'made/here.txt' })
    await tus(bound).patch(path, 0, new Uint8Array(1))
    const made = (await folders(owner)).find(({ name }) => name === 'made')
    expect(made).toMatchObject({ parent: inside })
    const place = async (file: string) => (await owner.get(`/api/v1/file/${file}`)).body
    expect(await place(plain.slug)).toMatchObject({ data: { folder_id: inside } })
    expect(await place(slug)).toMatchObject({ data: { folder_id: made?.id } })
    const created = await bound.post('/api/v1/folder', { name: 'new' })
    expect(created).toMatchObject({ status: 201, body: { data: { parent: inside } } })
  })

  test('moves things about below its folder, where root is that folder', async () => {
    const moved = await bound.post('/api/v1/file/move', { file: files.below, folder: 'root' })
    expect(moved).toMatchObject({ status: 200 })
    expect((await owner.get(`/api/v1/file/${files.below}`)).body).toMatchObject({
      data: { folder_id: inside },
    })
    const deeper = await bound.folder('deeper', { parent: below })
    expect(await bound.post('/api/v1/folder/move', { folder: deeper })).toMatchObject({ status: 200 })
    expect((await folders(owner)).find(({ id }) => id === deeper)).toMatchObject({ parent: inside })
  })

  test('changes who sees its folder, but not its name or place, and does not delete it', async () => {
    expect(await bound.patch(`/api/v1/folder/${inside}`, { name: 'other' })).toMatchObject(
      refusal('INVALID_REQUEST'),
    )
    for (const parent of ['root', inside, below]) {
      const moved = await bound.post('/api/v1/folder/move', { folder: inside, parent })
      expect(moved).toMatchObject(refusal('INVALID_DESTINATION'))
    }
    const many = await bound.post('/api/v1/folders/move', { folders: [inside, below], parent: above })
    expect(many).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    const deleted = await bound.post('/folder/delete', { identifiers: [inside] })
    expect(deleted.body).toMatchObject({ success: false, successful_deletes: 0, files_deleted: 0 })
    const { data: outside } = z
      .object({ data: z.object({ id: z.number(), uuid: z.string() }) })
      .parse((await owner.get(`/api/v1/file/${files.above}`)).body)
    const unseen = await bound.post('/file/delete', { identifiers: [files.above, outside.uuid, outside.id] })
    expect(unseen.body).toMatchObject({ total_processed: 3, failed_deletes: 3 })
    const changed = await bound.patch(`/api/v1/folder/${inside}`, { public: 1 })
    expect(changed.body).toMatchObject({ data: { public: true, name: 'inside', parent: null } })
    expect((await folders(owner)).find(({ id }) => id === inside)).toMatchObject({
      name: 'inside',
      parent: above,
    })
  })

  test('sees what is private in it by its public address, without what is above, and nothing of the rest', async () => {
    expect((await visit(`/d/${files.inside}`)).status).toBe(200)
    const page = await (await visit(`/f/${inside}`)).text()
    expect(page).toContain('file-inside.txt')
    expect(page).not.toContain(above)
    for (const path of [`/d/${files.above}`, `/d/${files.above}?download=1`, `/f/${above}`]) {
      expect((await visit(path)).status).toBe(404)
    }
    // A guest sees that folder now, and the key sees no more of it.
    await owner.patch(`/api/v1/folder/${above}`, { public: 1 })
    expect(await (await visit(`/f/${above}`)).text()).not.toContain(inside)
  })
})

describe('an upload to elsewhere', () => {
  test('is not there for a key for one folder, whatever it asks', async () => {
    const { path, slug } = await tus(owner).start(5, { folder: above })
    const own = await tus(bound).start(5)
    const asked = [
      await tus(bound).patch(path, 0, new Uint8Array(5)),
      await tus(bound).look(path),
      await tus(bound).remove(path),
      await bound.send(path, { method: 'POST', headers: { ...TUS, 'x-http-method-override': 'DELETE' } }),
      await bound.send('/api/v1/uploads', {
        method: 'POST',
        headers: { ...TUS, 'upload-concat': `final;${path}` },
      }),
    ]
    for (const answer of asked) expect(answer).toMatchObject(refusal('UPLOAD_NOT_FOUND'))
    expect((await tus(bound).head(path)).status).toBe(404)
    expect(await bound.get(`/api/v1/upload/status?slug=${slug}`)).toMatchObject(refusal('FILE_NOT_FOUND'))
    expect((await bound.get('/api/v1/uploads')).body).toMatchObject({ data: [{ slug: own.slug }] })
    expect(
      await tus(bound).create({ 'upload-length': '1', 'upload-metadata': `folder ${btoa(above)}` }),
    ).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    expect(await tus(owner).offset(path)).toBe(0)
  })
})

describe('what leaves the folder of a key', () => {
  test('is gone for it at once, by signed addresses, zips and uploads under way too', async () => {
    const upload = await tus(bound).start(5, { folder: below })
    const done = await tus(bound).start(1, { folder: inside })
    await tus(bound).patch(done.path, 0, new Uint8Array(1))
    const zip = await bound.post('/api/v1/files/download', { files: [files.inside, files.below] })
    const { url } = z.object({ data: z.object({ url: z.string() }) }).parse(zip.body).data
    const address = (await visit(`/d/${files.inside}?download=1`)).headers.get('location') ?? ''
    const statuses = async () => [
      (await fetch(url)).status,
      (await fetch(address)).status,
      (await tus(bound).head(upload.path)).status,
      (await tus(bound).look(done.path)).status,
    ]
    expect(await statuses()).toEqual([200, 200, 200, 200])
    await owner.post('/api/v1/files/move', { files: [files.inside, done.slug], folder: above })
    await owner.post('/api/v1/folder/move', { folder: below, parent: above })
    expect(await statuses()).toEqual([404, 404, 404, 410])
    expect(await bound.get(`/api/v1/file/${files.below}`)).toMatchObject(refusal('FILE_NOT_FOUND'))
    expect(await numbers()).toEqual({ storage_used: 0, files_count: 0, folders_count: 1 })
    expect(await names(bound, '')).toEqual([])
  })

  test('leaves a key whose folder is deleted with nothing, now and when its rows are cleared', async () => {
    const upload = await tus(bound).start(5)
    await owner.post('/folder/delete', { identifiers: [above] })
    for (const _ of ['marked', 'cleared']) {
      expect(await names(bound, '')).toEqual([])
      expect(await names(bound, '?search=file')).toEqual([])
      expect(await folders(bound)).toEqual([])
      expect(await numbers()).toEqual({ storage_used: 0, files_count: 0, folders_count: 0 })
      expect((await bound.get('/api/v1/uploads')).body).toMatchObject({ data: [] })
      const refused = [
        await bound.upload('x'),
        await bound.post('/api/v1/folder', { name: 'x' }),
        await bound.get('/api/v1/folder/root/files'),
        await bound.get('/api/v1/folder/root/download'),
        await bound.post('/api/v1/key', { name: 'x', scopes: ['read'] }),
      ]
      for (const answer of refused) expect(answer).toMatchObject(refusal('FOLDER_NOT_FOUND'))
      expect(await bound.get(`/api/v1/file/${files.top}`)).toMatchObject(refusal('FILE_NOT_FOUND'))
      expect((await tus(bound).head(upload.path)).status).toBe(404)
      await holdfast.runJobs()
    }
  })
})

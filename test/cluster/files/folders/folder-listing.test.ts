import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { folders } from '../../../support/clients/answers.ts'
import { type Api, api, newcomer, refusal, TIMESTAMP } from '../../../support/clients/api.ts'
import { addCopies } from '../../../support/contents/file-copies.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

const filesShape = z.object({
  data: z.array(z.object({ name: z.string() })),
  pagination: z
    .object({ page: z.number(), per_page: z.number(), total: z.number(), pages: z.number() })
    .optional(),
})

async function filesIn(caller: Api, folder: string, query = '') {
  const answer = await caller.get(`/api/v1/folder/${folder}/files${query}`)
  expect(answer).toMatchObject({ status: 200, body: { success: true } })
  return filesShape.parse(answer.body)
}

describe('the list of folders', () => {
  test('describes a folder with every field', async () => {
    const caller = await newcomer(holdfast)
    const outer = await caller.folder('outer')
    const inner = await caller.folder('inner', { parent: outer, public: 0, password: 'secret' })
    await caller.put('x', { folder: inner })
    const { body } = await caller.get(`/api/v1/folders?parent=${outer}`)
    expect(body).toMatchObject({
      success: true,
      data: [
        {
          id: inner,
          name: 'inner',
          public: false,
          file_count: 1,
          created_at: expect.stringMatching(TIMESTAMP),
          parent: outer,
          parent_id: outer,
          has_password: true,
        },
      ],
    })
  })

  test('holds all of the caller’s folders on every level and nobody else’s', async () => {
    const caller = await newcomer(holdfast)
    expect(await folders(caller)).toEqual([])
    await (await newcomer(holdfast)).folder('foreign')
    const outer = await caller.folder('outer')
    const inner = await caller.folder('inner', { parent: outer })
    const innermost = await caller.folder('innermost', { parent: inner })
    const ids = (await folders(caller)).map((folder) => folder.id)
    expect(ids.sort()).toEqual([outer, inner, innermost].sort())
  })

  test('is not cut at any page size', async () => {
    const caller = await newcomer(holdfast)
    for (let index = 0; index < 130; index += 1) await caller.folder(`folder ${index}`)
    expect(await folders(caller)).toHaveLength(130)
  })

  test('can be asked for below one parent or at the top level', async () => {
    const caller = await newcomer(holdfast)
    const outer = await caller.folder('outer')
    const inner = await caller.folder('inner', { parent: outer })
    await caller.folder('innermost', { parent: inner })
    const names = async (path: string) => (await folders(caller, path)).map((folder) => folder.name)
    expect(await names('/api/v1/folders?parent=root')).toEqual(['outer'])
    expect(await names(`/api/v1/folders?parent=${outer}`)).toEqual(['inner'])
    expect(await names(`/api/v1/folder/${outer}/folders`)).toEqual(['inner'])
    expect(await names(`/api/v1/folder/${inner}/folders`)).toEqual(['innermost'])
    expect(await folders(caller, `/api/v1/folder/${outer}/folders`)).toMatchObject([
      { id: inner, parent: outer, parent_id: outer },
    ])
  })

  test('below an unknown or another account’s folder is refused', async () => {
    const caller = await newcomer(holdfast)
    const foreign = await (await newcomer(holdfast)).folder('foreign')
    for (const folder of ['a'.repeat(16), foreign]) {
      for (const path of [`/api/v1/folders?parent=${folder}`, `/api/v1/folder/${folder}/folders`]) {
        expect(await caller.get(path)).toMatchObject(refusal('FOLDER_NOT_FOUND'))
      }
    }
  })

  test('names a thumbnail only where there is one', async () => {
    const caller = await newcomer(holdfast)
    await caller.folder('empty')
    const shape = z.object({ data: z.array(z.object({ thumbnail_url: z.string().optional() })) })
    const { data } = shape.parse((await caller.get('/api/v1/folders')).body)
    expect(data).toEqual([{}])
  })
})

describe('the files of a folder', () => {
  test('are described with every field', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('box')
    const file = await caller.put('hello', { name: 'hello.txt', folder })
    const { body } = await caller.get(`/api/v1/folder/${folder}/files`)
    expect(body).toEqual({
      success: true,
      data: [
        {
          id: file.file_id,
          uuid: file.uuid,
          slug: file.slug,
          name: 'hello.txt',
          size: 5,
          type: 'text/plain',
          url: file.url,
          thumbnail_url: `/t/${file.uuid}`,
          created_at: expect.stringMatching(TIMESTAMP),
        },
      ],
    })
  })

  test('are those directly in it, and for root those in none', async () => {
    const caller = await newcomer(holdfast)
    const outer = await caller.folder('outer')
    const inner = await caller.folder('inner', { parent: outer })
    await caller.put('x', { name: 'in outer', folder: outer })
    await caller.put('x', { name: 'in inner', folder: inner })
    await caller.put('x', { name: 'top' })
    expect((await filesIn(caller, outer)).data).toEqual([{ name: 'in outer' }])
    expect((await filesIn(caller, inner)).data).toEqual([{ name: 'in inner' }])
    expect((await filesIn(caller, 'root')).data).toEqual([{ name: 'top' }])
  })

  test('come all at once without pages, newest first', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('full')
    for (let index = 0; index < 120; index += 1) await caller.put('x', { name: `file ${index}`, folder })
    const { data, pagination } = await filesIn(caller, folder)
    expect(pagination).toBeUndefined()
    expect(data.map((file) => file.name)).toEqual(
      Array.from({ length: 120 }, (_, index) => `file ${119 - index}`),
    )
    const second = await filesIn(caller, folder, '?page=2&per_page=50')
    expect(second.pagination).toEqual({ page: 2, per_page: 50, total: 120, pages: 3 })
    expect(second.data).toEqual(data.slice(50, 100))
    const sorted = await filesIn(caller, folder, '?per_page=3&sort=name&order=asc&search=file 1')
    expect(sorted.data.map((file) => file.name)).toEqual(['file 1', 'file 10', 'file 11'])
    expect(sorted.pagination?.total).toBe(31)
  })

  test('come all at once in pieces, also 20,000 of them', async () => {
    const FILES = 20_000
    const { apiKey } = await holdfast.addAccount()
    const caller = api(holdfast, apiKey)
    const folder = await caller.folder('large')
    const { file_id } = await caller.put('x', { folder })
    await addCopies(holdfast.database, file_id, FILES - 1)
    const answer = await caller.get(`/api/v1/folder/${folder}/files`)
    const { data } = z.object({ data: z.array(z.object({ id: z.number() })) }).parse(answer.body)
    expect(new Set(data.map(({ id }) => id)).size).toBe(FILES)
    expect(data).toHaveLength(FILES)
    // Nobody has known how long it would be.
    expect(answer.headers.get('content-length')).toBeNull()
  })

  test('come in pages with either parameter, by the defaults of the list of files', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('box')
    for (let index = 0; index < 21; index += 1) await caller.put('x', { folder })
    const first = await filesIn(caller, folder, '?page=1')
    expect(first.data).toHaveLength(20)
    expect(first.pagination).toEqual({ page: 1, per_page: 20, total: 21, pages: 2 })
    expect((await filesIn(caller, folder, '?per_page=7')).pagination).toEqual({
      page: 1,
      per_page: 7,
      total: 21,
      pages: 3,
    })
    expect(await filesIn(caller, folder, '?page=9')).toEqual({
      data: [],
      pagination: { page: 9, per_page: 20, total: 21, pages: 2 },
    })
    expect((await filesIn(caller, 'root', '?page=1')).pagination).toMatchObject({ total: 0, pages: 0 })
  })

  test.each(['page=0', 'page=x', 'per_page=0', 'per_page=101', 'per_page=1.5'])(
    'refuse %s',
    async (query) => {
      const caller = await newcomer(holdfast)
      const folder = await caller.folder('box')
      const answer = await caller.get(`/api/v1/folder/${folder}/files?${query}`)
      expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
    },
  )

  test('of an unknown or another account’s folder are not found', async () => {
    const caller = await newcomer(holdfast)
    const foreign = await (await newcomer(holdfast)).folder('foreign')
    for (const folder of ['a'.repeat(16), foreign]) {
      expect(await caller.get(`/api/v1/folder/${folder}/files`)).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    }
  })
})

describe('the folders in a folder', () => {
  test('come page by page in any order, with what is in their trees', async () => {
    const caller = await newcomer(holdfast)
    const outer = await caller.folder('outer')
    for (const name of ['b', 'a', 'C']) await caller.folder(name, { parent: outer })
    const inner = await caller.folder('d', { parent: outer })
    await caller.put('12', { folder: await caller.folder('deep', { parent: inner }) })
    await caller.put('345', { folder: inner })
    const shown = async (query: string) => {
      const { body } = await caller.get(`/api/v1/folder/${outer}/folders?${query}`)
      const { data, pagination } = z
        .object({
          data: z.array(z.object({ name: z.string() })),
          pagination: z.object({ total: z.number() }),
        })
        .parse(body)
      expect(pagination.total).toBe(4)
      return data.map(({ name }) => name).join('')
    }
    expect(await shown('page=1&per_page=3')).toBe('abC')
    expect(await shown('page=2&per_page=3')).toBe('d')
    expect(await shown('page=1&sort=name&order=desc')).toBe('dCba')
    expect(await shown('page=1&sort=created_at&order=asc')).toBe('baCd')
    expect(await shown('page=3')).toBe('')
    expect((await caller.get('/api/v1/folder/root/folders?page=1')).body).toMatchObject({
      data: [{ id: outer, file_count: 0, total_files: 2, total_folders: 5, total_size: 5 }],
      pagination: { total: 1 },
    })
    expect(await caller.get(`/api/v1/folder/${outer}/folders?page=0`)).toMatchObject(
      refusal('INVALID_REQUEST'),
    )
    expect((await caller.get(`/api/v1/folder/${inner}`)).body).toMatchObject({
      data: { id: inner, name: 'd', file_count: 1, total_files: 2, path: [{ id: outer, name: 'outer' }] },
    })
    expect(await caller.get('/api/v1/folder/root')).toMatchObject(refusal('FOLDER_NOT_FOUND'))
  })
})

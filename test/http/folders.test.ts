import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { type Api, newcomer, refusal, TIMESTAMP } from '../support/api.ts'
import { startHoldfast, type TestHoldfast } from '../support/holdfast.ts'

let holdfast: TestHoldfast
beforeAll(async () => {
  holdfast = await startHoldfast()
})
afterAll(() => holdfast.stop())

const foldersShape = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      public: z.boolean(),
      has_password: z.boolean(),
      file_count: z.number(),
      parent: z.string().nullable(),
      parent_id: z.string().nullable(),
    }),
  ),
})
const filesShape = z.object({
  data: z.array(z.object({ name: z.string() })),
  pagination: z
    .object({ page: z.number(), per_page: z.number(), total: z.number(), pages: z.number() })
    .optional(),
})

async function folders(caller: Api, path = '/api/v1/folders') {
  const answer = await caller.get(path)
  expect(answer).toMatchObject({ status: 200, body: { success: true } })
  return foldersShape.parse(answer.body).data
}

async function filesIn(caller: Api, folder: string, query = '') {
  const answer = await caller.get(`/api/v1/folder/${folder}/files${query}`)
  expect(answer).toMatchObject({ status: 200, body: { success: true } })
  return filesShape.parse(answer.body)
}

const create = (caller: Api, body: unknown) => caller.post('/api/v1/folder', body)

describe('a new folder', () => {
  test('is answered with everything about it', async () => {
    const answer = await create(await newcomer(holdfast), { name: 'Documents' })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      success: true,
      message: expect.stringMatching(/./),
      data: {
        identifier: expect.stringMatching(/^[a-z][a-z0-9]{15}$/),
        name: 'Documents',
        hasPassword: false,
        parent: 'root',
      },
    })
  })

  test.each(['parent', 'parent_id'])('can be put below another with %s', async (field) => {
    const caller = await newcomer(holdfast)
    const outer = await caller.folder('outer')
    const { status, body } = await create(caller, { name: 'inner', [field]: outer })
    expect(status).toBe(201)
    expect(body).toMatchObject({ data: { parent: outer } })
    const inner = (await folders(caller)).find((folder) => folder.name === 'inner')
    expect(inner).toMatchObject({ parent: outer, parent_id: outer })
  })

  test.each([
    { parent: 'root' },
    { parent: '' },
    { parent: null },
    { parent_id: 'root' },
    { parent_id: null },
  ])('is at the top level with %j', async (place) => {
    const caller = await newcomer(holdfast)
    const { status, body } = await create(caller, { name: 'x', ...place })
    expect(status).toBe(201)
    expect(body).toMatchObject({ data: { parent: 'root' } })
    expect(await folders(caller)).toMatchObject([{ parent: null, parent_id: null }])
  })

  test.each([
    [1, true],
    ['1', true],
    [true, true],
    [undefined, true],
    [0, false],
    ['0', false],
    [false, false],
  ])('created with public %p is public: %p', async (value, expected) => {
    const caller = await newcomer(holdfast)
    await caller.folder('x', { public: value })
    expect(await folders(caller)).toMatchObject([{ public: expected }])
  })

  test.each([
    ['secret', true],
    ['s', true],
    ['пароль 🔑', true],
    ['x'.repeat(128), true],
    ['', false],
    [null, false],
    [undefined, false],
  ])('created with the password %p has a password: %p', async (password, expected) => {
    const caller = await newcomer(holdfast)
    const { status, body } = await create(caller, { name: 'x', password })
    expect(status).toBe(201)
    expect(body).toMatchObject({ data: { hasPassword: expected } })
    expect(await folders(caller)).toMatchObject([{ has_password: expected }])
    expect(JSON.stringify(body)).not.toContain('secret')
  })

  test.each([
    ['public', 2],
    ['public', 'yes'],
    ['public', []],
    ['password', 5],
    ['password', 'x'.repeat(129)],
    ['parent', 5.5],
    ['parent', {}],
    ['parent_id', []],
  ])('with %s %j is refused, and the message names the field', async (field, value) => {
    const caller = await newcomer(holdfast)
    const answer = await create(caller, { name: 'x', [field]: value })
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
    expect(answer.body).toMatchObject({ message: expect.stringContaining(field) })
    expect(await folders(caller)).toEqual([])
  })

  test('below an unknown, a deleted or another account’s folder is refused', async () => {
    const caller = await newcomer(holdfast)
    const foreign = await (await newcomer(holdfast)).folder('foreign')
    const gone = await caller.folder('gone')
    await caller.post('/folder/delete', { identifiers: [gone] })
    for (const parent of ['a'.repeat(16), foreign, gone]) {
      expect(await create(caller, { name: 'x', parent })).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    }
  })
})

describe('the name of a folder', () => {
  test.each([
    ['x', 'x'],
    ['x'.repeat(100), 'x'.repeat(100)],
    ['  trimmed\t', 'trimmed'],
    ['e\u0301t\u00e9', 'été'],
    ['папка 文件夹 مجلد', 'папка 文件夹 مجلد'],
    ['😀'.repeat(100), '😀'.repeat(100)],
    ['...', '...'],
    ['.hidden', '.hidden'],
    ["Robert'); DROP TABLE folders;--", "Robert'); DROP TABLE folders;--"],
    ['__proto__', '__proto__'],
  ])('%p becomes %p', async (name, kept) => {
    const caller = await newcomer(holdfast)
    const { status, body } = await create(caller, { name })
    expect(status).toBe(201)
    expect(body).toMatchObject({ data: { name: kept } })
    expect(await folders(caller)).toMatchObject([{ name: kept }])
  })

  test.each([
    '',
    '   ',
    '.',
    '..',
    ' .. ',
    'a/b',
    'a\\b',
    'a\u0000b',
    'a\nb',
    'a\u007fb',
    'a\u0085b',
    'x'.repeat(101),
  ])('%j is refused on creation and on change', async (name) => {
    const caller = await newcomer(holdfast)
    expect(await create(caller, { name })).toMatchObject(refusal('INVALID_NAME'))
    const folder = await caller.folder('kept')
    const change = await caller.patch(`/api/v1/folder/${folder}`, { name })
    expect(change).toMatchObject(refusal('INVALID_NAME'))
    expect(await folders(caller)).toMatchObject([{ name: 'kept' }])
  })

  test.each([{}, { name: null }, { name: 5 }, { name: ['x'] }])(
    'missing or wrongly typed, as in %j, is refused, and the message names it',
    async (body) => {
      const answer = await create(await newcomer(holdfast), body)
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ message: expect.stringContaining('name') })
    },
  )

  test('is taken among siblings once it is used, also trimmed and decomposed', async () => {
    const caller = await newcomer(holdfast)
    const outer = await caller.folder('été')
    await caller.folder('été', { parent: outer })
    for (const body of [{ name: 'été' }, { name: ' e\u0301te\u0301 ' }, { name: 'été', parent: outer }]) {
      const answer = await create(caller, body)
      expect(answer).toMatchObject(refusal('DUPLICATE_NAME'))
      expect(answer.body).toMatchObject({ message: expect.stringContaining('already exists') })
    }
    expect(await folders(caller)).toHaveLength(2)
  })

  test('is free for other accounts', async () => {
    await (await newcomer(holdfast)).folder('popular')
    expect(await create(await newcomer(holdfast), { name: 'popular' })).toMatchObject({ status: 201 })
  })

  test('created many times at once exists once', async () => {
    const caller = await newcomer(holdfast)
    const parent = await caller.folder('parent')
    for (const place of ['root', parent]) {
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => create(caller, { name: 'racy', parent: place })),
      )
      const statuses = answers.map((answer) => answer.status).sort()
      expect(statuses).toEqual([201, ...Array.from({ length: 11 }, () => 409)])
    }
    expect(await folders(caller)).toHaveLength(3)
  })
})

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
          name: 'hello.txt',
          size: 5,
          type: 'text/plain',
          url: file.url,
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

describe('a change of a folder', () => {
  test('answers the list item', async () => {
    const caller = await newcomer(holdfast)
    const outer = await caller.folder('outer')
    const folder = await caller.folder('old', { parent: outer })
    await caller.put('x', { folder })
    const answer = await caller.patch(`/api/v1/folder/${folder}`, {
      name: 'new',
      public: 0,
      password: 'secret',
    })
    expect(answer.status).toBe(200)
    const { body } = await caller.get(`/api/v1/folders?parent=${outer}`)
    const [item] = z.object({ data: z.array(z.unknown()) }).parse(body).data
    expect(answer.body).toMatchObject({ success: true, data: item })
    expect(item).toMatchObject({
      id: folder,
      name: 'new',
      public: false,
      has_password: true,
      file_count: 1,
      parent: outer,
    })
  })

  test('leaves alone what it does not name', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('box', { public: 0, password: 'secret' })
    await caller.patch(`/api/v1/folder/${folder}`, { name: 'crate' })
    expect(await folders(caller)).toMatchObject([{ name: 'crate', public: false, has_password: true }])
    await caller.patch(`/api/v1/folder/${folder}`, { public: '1' })
    expect(await folders(caller)).toMatchObject([{ name: 'crate', public: true, has_password: true }])
  })

  test.each([null, ''])('takes the password off with %j', async (password) => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('box', { password: 'secret' })
    const { body } = await caller.patch(`/api/v1/folder/${folder}`, { password })
    expect(body).toMatchObject({ data: { has_password: false } })
  })

  test('to its own name succeeds, and to a sibling’s does not', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('mine')
    await caller.folder('taken')
    expect(await caller.patch(`/api/v1/folder/${folder}`, { name: 'mine' })).toMatchObject({ status: 200 })
    const answer = await caller.patch(`/api/v1/folder/${folder}`, { name: 'taken', public: 0 })
    expect(answer).toMatchObject(refusal('DUPLICATE_NAME'))
    expect((await folders(caller)).find(({ id }) => id === folder)).toMatchObject({
      name: 'mine',
      public: true,
    })
  })

  test.each([{ public: 2 }, { public: null }, { password: 5 }, { password: 'x'.repeat(129) }, { name: 7 }])(
    'to %j is refused, and the message names the field',
    async (body) => {
      const caller = await newcomer(holdfast)
      const folder = await caller.folder('box')
      const answer = await caller.patch(`/api/v1/folder/${folder}`, body)
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ message: expect.stringContaining(Object.keys(body).join()) })
    },
  )

  test('of an unknown or another account’s folder, or of root, is not found', async () => {
    const caller = await newcomer(holdfast)
    const foreign = await (await newcomer(holdfast)).folder('foreign')
    for (const folder of ['a'.repeat(16), foreign, 'root']) {
      const answer = await caller.patch(`/api/v1/folder/${folder}`, { name: 'x' })
      expect(answer).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    }
  })
})

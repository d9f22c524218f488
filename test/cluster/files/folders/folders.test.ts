// Also on the cluster in npm test.
import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { folders } from '../../../support/clients/answers.ts'
import { type Api, newcomer, refusal } from '../../../support/clients/api.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

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
    const other = await caller.folder('other')
    expect(await create(caller, { name: 'x', parent: outer, parent_id: other })).toMatchObject(
      refusal('INVALID_REQUEST'),
    )
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
    ['password', '\ud800'],
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

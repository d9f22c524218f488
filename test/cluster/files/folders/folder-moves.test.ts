import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { type Api, newcomer, refusal } from '../../../support/clients/api.ts'
import { startHoldfast } from '../../../support/servers/holdfast.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const holdfast = await hostOfFile({ maxFolderDepth: 4 })

const batchShape = z.object({ success: z.boolean(), message: z.string(), data: z.unknown() })

const move = (caller: Api, folder: string, parent?: string | null) =>
  caller.post('/api/v1/folder/move', { folder, parent })

async function moveAll(caller: Api, folders: string[], parent?: string) {
  const answer = await caller.post('/api/v1/folders/move', { folders, parent })
  expect(answer.status).toBe(200)
  return batchShape.parse(answer.body)
}

/** The parent of each of the caller's folders, by identifier. */
async function tree(caller: Api): Promise<Map<string, string | null>> {
  const shape = z.object({ data: z.array(z.object({ id: z.string(), parent: z.string().nullable() })) })
  const { data } = shape.parse((await caller.get('/api/v1/folders')).body)
  return new Map(data.map(({ id, parent }) => [id, parent]))
}

/** Folders of the given names, each below the one before it. */
async function chain(caller: Api, ...names: string[]): Promise<string[]> {
  const made: string[] = []
  for (const name of names) made.push(await caller.folder(name, { parent: made.at(-1) ?? 'root' }))
  return made
}

describe('a move of one folder', () => {
  test('answers what was asked and how many folders went along', async () => {
    const caller = await newcomer(holdfast)
    const [a = '', b = ''] = await chain(caller, 'a', 'b')
    await caller.folder('b2', { parent: a })
    const file = await caller.put('x', { folder: b })
    const target = await caller.folder('target')
    const answer = await move(caller, a, target)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      success: true,
      message: expect.stringMatching(/./),
      data: { folder: a, parent: target, folders_updated: 3 },
    })
    expect((await tree(caller)).get(a)).toBe(target)
    expect((await tree(caller)).get(b)).toBe(a)
    expect((await caller.get(`/api/v1/file/${file.slug}`)).body).toMatchObject({ data: { folder_id: b } })
  })

  test.each(['root', undefined, null, ''])('to the top level is asked for with %p', async (parent) => {
    const caller = await newcomer(holdfast)
    const [, b = ''] = await chain(caller, 'a', 'b')
    const answer = await move(caller, b, parent)
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { folder: b, parent: 'root', folders_updated: 1 } },
    })
    expect((await tree(caller)).get(b)).toBeNull()
  })

  test('to where the folder is already updates none', async () => {
    const caller = await newcomer(holdfast)
    const [a = '', b = ''] = await chain(caller, 'a', 'b')
    expect(await move(caller, b, a)).toMatchObject({ status: 200, body: { data: { folders_updated: 0 } } })
    expect(await move(caller, a)).toMatchObject({ status: 200, body: { data: { folders_updated: 0 } } })
  })

  test('into itself or below itself is refused', async () => {
    const caller = await newcomer(holdfast)
    const [a = '', b = '', c = ''] = await chain(caller, 'a', 'b', 'c')
    for (const parent of [a, b, c]) {
      expect(await move(caller, a, parent)).toMatchObject(refusal('INVALID_DESTINATION'))
    }
    expect((await tree(caller)).get(a)).toBeNull()
  })

  test('to where the name exists already is refused', async () => {
    const caller = await newcomer(holdfast)
    const [, twin = ''] = await chain(caller, 'a', 'twin')
    await caller.folder('twin')
    const answer = await move(caller, twin)
    expect(answer).toMatchObject(refusal('DUPLICATE_NAME'))
    expect(answer.body).toMatchObject({ message: expect.stringContaining('already exists') })
    expect((await tree(caller)).get(twin)).not.toBeNull()
  })

  test('of an unknown or another account’s folder, or to one, is not found', async () => {
    const caller = await newcomer(holdfast)
    const mine = await caller.folder('mine')
    const foreign = await (await newcomer(holdfast)).folder('foreign')
    for (const other of ['a'.repeat(16), foreign]) {
      expect(await move(caller, other, mine)).toMatchObject(refusal('FOLDER_NOT_FOUND'))
      expect(await move(caller, mine, other)).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    }
  })

  test('of the top level is refused', async () => {
    const caller = await newcomer(holdfast)
    const mine = await caller.folder('mine')
    for (const folder of ['root', '']) expect([400, 404]).toContain((await move(caller, folder, mine)).status)
  })

  test.each([
    [{}, 'folder'],
    [{ folder: null }, 'folder'],
    [{ folder: [] }, 'folder'],
    [{ folder: 'a'.repeat(16), parent: {} }, 'parent'],
    [{ folder: 'a'.repeat(16), parent: true }, 'parent'],
  ])('asked for as %j is refused, and the message names the field', async (body, field) => {
    const answer = await (await newcomer(holdfast)).post('/api/v1/folder/move', body)
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
    expect(answer.body).toMatchObject({ message: expect.stringContaining(field) })
  })
})

describe('the depth of folders', () => {
  test('is limited on creation', async () => {
    const caller = await newcomer(holdfast)
    const deepest = (await chain(caller, 'a', 'b', 'c', 'd')).at(-1)
    const answer = await caller.post('/api/v1/folder', { name: 'e', parent: deepest })
    expect(answer).toMatchObject(refusal('MAX_DEPTH_EXCEEDED'))
  })

  test('is limited on a move, counted with all that goes along', async () => {
    const caller = await newcomer(holdfast)
    const [x = '', y = '', z = ''] = await chain(caller, 'x', 'y', 'z')
    const [a = '', b = ''] = await chain(caller, 'a', 'b')
    expect(await move(caller, a, z)).toMatchObject(refusal('MAX_DEPTH_EXCEEDED'))
    expect(await move(caller, b, z)).toMatchObject({ status: 200 })
    expect(await move(caller, b, a)).toMatchObject({ status: 200 })
    expect(await move(caller, a, y)).toMatchObject({ status: 200, body: { data: { folders_updated: 2 } } })
    expect(await move(caller, x, x)).toMatchObject(refusal('INVALID_DESTINATION'))
  })

  test('is limited on a move of what came together by moves', async () => {
    const caller = await newcomer(holdfast)
    const [[a = ''], [b = ''], [x = '']] = [
      await chain(caller, 'a'),
      await chain(caller, 'b', 'c', 'd'),
      await chain(caller, 'x'),
    ]
    expect(await move(caller, b, a)).toMatchObject({ status: 200 })
    expect(await move(caller, a, x)).toMatchObject(refusal('MAX_DEPTH_EXCEEDED'))
  })

  test('counts what is there, not what once was', async () => {
    const caller = await newcomer(holdfast)
    const [, , z = ''] = await chain(caller, 'x', 'y', 'z')
    const [a = '', b = ''] = await chain(caller, 'a', 'b', 'c')
    expect(await move(caller, a, z)).toMatchObject(refusal('MAX_DEPTH_EXCEEDED'))
    await caller.post('/api/v1/folder/delete', { identifiers: [b] })
    expect(await move(caller, a, z)).toMatchObject({ status: 200 })
  })

  test('is limited in a batch, folder by folder', async () => {
    const caller = await newcomer(holdfast)
    const [, , z = ''] = await chain(caller, 'x', 'y', 'z')
    const [deep = ''] = await chain(caller, 'deep', 'er')
    const flat = await caller.folder('flat')
    expect((await moveAll(caller, [deep, flat], z)).data).toMatchObject({
      moved: 1,
      failed: 1,
      results: [
        { folder: deep, success: false, error: 'MAX_DEPTH_EXCEEDED' },
        { folder: flat, success: true, folders_updated: 1 },
      ],
    })
  })
})

describe('the depth of folders without a setting', () => {
  test('is 256', async () => {
    const own = await startHoldfast()
    try {
      const caller = await newcomer(own)
      const names = Array.from({ length: 256 }, (_, index) => `level ${index + 1}`)
      const deepest = (await chain(caller, ...names)).at(-1)
      const answer = await caller.post('/api/v1/folder', { name: 'too deep', parent: deepest })
      expect(answer).toMatchObject(refusal('MAX_DEPTH_EXCEEDED'))
    } finally {
      await own.stop()
    }
  })
})

describe('a move of several folders', () => {
  test('answers for each in the order asked', async () => {
    const caller = await newcomer(holdfast)
    const [a = ''] = await chain(caller, 'a', 'below a')
    const b = await caller.folder('b')
    const target = await caller.folder('target')
    const answer = await caller.post('/api/v1/folders/move', { folders: [b, a], parent: target })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      success: true,
      message: expect.stringMatching(/./),
      data: {
        parent: target,
        moved: 2,
        failed: 0,
        results: [
          { folder: b, success: true, folders_updated: 1 },
          { folder: a, success: true, folders_updated: 2 },
        ],
      },
    })
    expect((await tree(caller)).get(a)).toBe(target)
    expect((await tree(caller)).get(b)).toBe(target)
  })

  test('goes on past failures, each with its code, and says how many of the total moved', async () => {
    const caller = await newcomer(holdfast)
    const [outer = '', target = ''] = await chain(caller, 'outer', 'target')
    await caller.folder('twin', { parent: target })
    const twin = await caller.folder('twin')
    const good = await caller.folder('good')
    const foreign = await (await newcomer(holdfast)).folder('foreign')
    const unknown = 'a'.repeat(16)
    const folders = [unknown, outer, twin, good, target, foreign]
    const { success, message, data } = await moveAll(caller, folders, target)
    expect(success).toBe(false)
    expect(message).toMatch(/\b1\b.*\b6\b/)
    expect(data).toEqual({
      parent: target,
      moved: 1,
      failed: 5,
      results: [
        { folder: unknown, success: false, error: 'FOLDER_NOT_FOUND' },
        { folder: outer, success: false, error: 'INVALID_DESTINATION' },
        { folder: twin, success: false, error: 'DUPLICATE_NAME' },
        { folder: good, success: true, folders_updated: 1 },
        { folder: target, success: false, error: 'INVALID_DESTINATION' },
        { folder: foreign, success: false, error: 'FOLDER_NOT_FOUND' },
      ],
    })
    expect((await tree(caller)).get(good)).toBe(target)
  })

  test('lets each move see the ones before it', async () => {
    const caller = await newcomer(holdfast)
    const target = await caller.folder('target')
    const [, first = ''] = await chain(caller, 'a', 'same')
    const [, second = ''] = await chain(caller, 'b', 'same')
    expect((await moveAll(caller, [first, second, first], target)).data).toMatchObject({
      moved: 2,
      failed: 1,
      results: [
        { success: true, folders_updated: 1 },
        { success: false, error: 'DUPLICATE_NAME' },
        { success: true, folders_updated: 0 },
      ],
    })
  })

  test.each([{ parent: 'root' }, {}, { parent: '' }, { parent: null }])(
    'to the top level is asked for with %j',
    async (destination) => {
      const caller = await newcomer(holdfast)
      const [, b = ''] = await chain(caller, 'a', 'b')
      const answer = await caller.post('/api/v1/folders/move', { folders: [b], ...destination })
      expect(answer).toMatchObject({
        status: 200,
        body: { success: true, data: { parent: 'root', moved: 1 } },
      })
      expect((await tree(caller)).get(b)).toBeNull()
    },
  )

  test('to an unknown or another account’s parent is refused as a whole', async () => {
    const caller = await newcomer(holdfast)
    const mine = await caller.folder('mine')
    const foreign = await (await newcomer(holdfast)).folder('foreign')
    for (const parent of ['a'.repeat(16), foreign]) {
      const answer = await caller.post('/api/v1/folders/move', { folders: [mine], parent })
      expect(answer).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    }
  })

  test('takes 200 folders and no more', async () => {
    const caller = await newcomer(holdfast)
    const folders = Array.from(
      { length: 200 },
      (_, index) => `abcdefghijklm${String(index).padStart(3, '0')}`,
    )
    expect((await moveAll(caller, folders)).data).toMatchObject({ moved: 0, failed: 200 })
    const answer = await caller.post('/api/v1/folders/move', { folders: [...folders, 'abcdefghijklm200'] })
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
    expect(answer.body).toMatchObject({ message: expect.stringContaining('folders') })
  })

  test.each([
    {},
    { folders: [] },
    { folders: null },
    { folders: 'x' },
    { folders: [null] },
    { folders: [[]] },
  ])('asked for as %j is refused, and the message names the field', async (body) => {
    const answer = await (await newcomer(holdfast)).post('/api/v1/folders/move', body)
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
    expect(answer.body).toMatchObject({ message: expect.stringContaining('folders') })
  })
})

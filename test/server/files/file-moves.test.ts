import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { type Api, newcomer, refusal } from '../../support/clients/api.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

const moveShape = z.object({ data: z.object({ file: z.coerce.string(), folder: z.string() }) })
const batchShape = z.object({
  success: z.boolean(),
  message: z.string(),
  data: z.object({
    folder: z.string(),
    moved: z.number(),
    failed: z.number(),
    results: z.array(
      z.object({ file: z.coerce.string(), success: z.boolean(), error: z.string().optional() }),
    ),
  }),
})

async function folderOf(caller: Api, slug: string) {
  const shape = z.object({ data: z.object({ folder_id: z.string() }) })
  return shape.parse((await caller.get(`/api/v1/file/${slug}`)).body).data.folder_id
}

async function moveAll(caller: Api, body: unknown) {
  const answer = await caller.post('/api/v1/files/move', body)
  expect(answer.status).toBe(200)
  return batchShape.parse(answer.body)
}

describe('a move of one file', () => {
  test('answers what was asked, and the file is there', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('target')
    const { slug } = await caller.put('x')
    const answer = await caller.post('/api/v1/file/move', { file: slug, folder })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      success: true,
      message: expect.stringMatching(/./),
      data: { file: slug, folder },
    })
    expect(await folderOf(caller, slug)).toBe(folder)
    expect((await caller.get('/api/v1/folders')).body).toMatchObject({ data: [{ file_count: 1 }] })
  })

  test('takes the slug, the UUID, the number as text and as a number, and echoes it', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('target')
    const file = await caller.put('x')
    for (const id of [file.slug, file.uuid, String(file.file_id), file.file_id]) {
      await caller.post('/api/v1/file/move', { file: file.slug })
      const answer = await caller.post('/api/v1/file/move', { file: id, folder })
      expect(answer.status).toBe(200)
      expect(moveShape.parse(answer.body).data).toEqual({ file: String(id), folder })
      expect(await folderOf(caller, file.slug)).toBe(folder)
    }
  })

  test.each([{ folder: 'root' }, {}, { folder: '' }, { folder: null }])(
    'to the top level is asked for with %j',
    async (destination) => {
      const caller = await newcomer(holdfast)
      const { slug } = await caller.put('x', { folder: await caller.folder('source') })
      const answer = await caller.post('/api/v1/file/move', { file: slug, ...destination })
      expect(answer.body).toMatchObject({ success: true, data: { file: slug, folder: 'root' } })
      expect(await folderOf(caller, slug)).toBe('root')
    },
  )

  test('to where the file is already succeeds', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('here')
    const { slug } = await caller.put('x', { folder })
    expect(await caller.post('/api/v1/file/move', { file: slug, folder })).toMatchObject({ status: 200 })
    expect((await caller.get('/api/v1/folders')).body).toMatchObject({ data: [{ file_count: 1 }] })
  })

  test('to a folder where the name exists already succeeds, for names need not be unique', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('here')
    await caller.put('one', { name: 'twin', folder })
    const { slug } = await caller.put('two', { name: 'twin' })
    expect(await caller.post('/api/v1/file/move', { file: slug, folder })).toMatchObject({ status: 200 })
  })

  test('of an unknown or another account’s file is not found', async () => {
    const caller = await newcomer(holdfast)
    const foreign = await (await newcomer(holdfast)).put('x')
    for (const file of ['Abcdefghijkl', foreign.slug, foreign.uuid, foreign.file_id, 0, 1e15]) {
      expect(await caller.post('/api/v1/file/move', { file })).toMatchObject(refusal('FILE_NOT_FOUND'))
    }
  })

  test('to an unknown, a deleted or another account’s folder is refused, and the file stays', async () => {
    const caller = await newcomer(holdfast)
    const home = await caller.folder('home')
    const { slug } = await caller.put('x', { folder: home })
    const gone = await caller.folder('gone')
    await caller.post('/folder/delete', { identifiers: [gone] })
    const foreign = await (await newcomer(holdfast)).folder('foreign')
    for (const folder of ['a'.repeat(16), gone, foreign, 'ROOT']) {
      expect(await caller.post('/api/v1/file/move', { file: slug, folder })).toMatchObject(
        refusal('FOLDER_NOT_FOUND'),
      )
    }
    expect(await folderOf(caller, slug)).toBe(home)
  })

  test.each([
    [{}, 'file'],
    [{ file: null }, 'file'],
    [{ file: {} }, 'file'],
    [{ file: true }, 'file'],
    [{ file: 'Abcdefghijkl', folder: {} }, 'folder'],
    [{ file: 'Abcdefghijkl', folder: ['x'] }, 'folder'],
  ])('asked for as %j is refused, and the message names the field', async (body, field) => {
    const answer = await (await newcomer(holdfast)).post('/api/v1/file/move', body)
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
    expect(answer.body).toMatchObject({ message: expect.stringContaining(field) })
  })
})

describe('a move of several files', () => {
  test('answers for each in the order asked, and the files are there', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('target')
    const [a, b, c] = [await caller.put('a'), await caller.put('b'), await caller.put('c')]
    const answer = await caller.post('/api/v1/files/move', {
      files: [c.slug, a.uuid, String(b.file_id)],
      folder,
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      success: true,
      message: expect.stringMatching(/./),
      data: {
        folder,
        moved: 3,
        failed: 0,
        results: [
          { file: c.slug, success: true },
          { file: a.uuid, success: true },
          { file: String(b.file_id), success: true },
        ],
      },
    })
    for (const file of [a, b, c]) expect(await folderOf(caller, file.slug)).toBe(folder)
  })

  test('takes numbers too', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('target')
    const file = await caller.put('a')
    const { data } = await moveAll(caller, { files: [file.file_id], folder })
    expect(data).toEqual({
      folder,
      moved: 1,
      failed: 0,
      results: [{ file: String(file.file_id), success: true }],
    })
  })

  test('goes on past failures, and says how many of the total moved', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('target')
    const foreign = await (await newcomer(holdfast)).put('x')
    const [a, b] = [await caller.put('a'), await caller.put('b')]
    const files = [a.slug, 'Abcdefghijkl', foreign.slug, b.slug, String(foreign.file_id)]
    const { success, message, data } = await moveAll(caller, { files, folder })
    expect(success).toBe(false)
    expect(message).toMatch(/\b2\b.*\b5\b/)
    expect(data).toEqual({
      folder,
      moved: 2,
      failed: 3,
      results: [
        { file: a.slug, success: true },
        { file: 'Abcdefghijkl', success: false, error: 'FILE_NOT_FOUND' },
        { file: foreign.slug, success: false, error: 'FILE_NOT_FOUND' },
        { file: b.slug, success: true },
        { file: String(foreign.file_id), success: false, error: 'FILE_NOT_FOUND' },
      ],
    })
  })

  test.each([{ folder: 'root' }, {}, { folder: '' }, { folder: null }])(
    'to the top level is asked for with %j',
    async (destination) => {
      const caller = await newcomer(holdfast)
      const { slug } = await caller.put('x', { folder: await caller.folder('source') })
      const { success, data } = await moveAll(caller, { files: [slug], ...destination })
      expect(success).toBe(true)
      expect(data.folder).toBe('root')
      expect(await folderOf(caller, slug)).toBe('root')
    },
  )

  test('to an unknown or another account’s folder is refused as a whole', async () => {
    const caller = await newcomer(holdfast)
    const { slug } = await caller.put('x')
    const foreign = await (await newcomer(holdfast)).folder('foreign')
    for (const folder of ['a'.repeat(16), foreign]) {
      const answer = await caller.post('/api/v1/files/move', { files: [slug], folder })
      expect(answer).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    }
    expect(await folderOf(caller, slug)).toBe('root')
  })

  test('takes 200 files and no more', async () => {
    const caller = await newcomer(holdfast)
    const files = Array.from({ length: 200 }, (_, index) => `Abcdefghi${String(index).padStart(3, '0')}`)
    expect((await moveAll(caller, { files })).data).toMatchObject({ moved: 0, failed: 200 })
    const answer = await caller.post('/api/v1/files/move', { files: [...files, 'Abcdefghi200'] })
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
    expect(answer.body).toMatchObject({ message: expect.stringContaining('files') })
  })

  test.each([
    {},
    { files: [] },
    { files: null },
    { files: 'x' },
    { files: [null] },
    { files: [{}] },
    { files: {} },
  ])('asked for as %j is refused, and the message names the field', async (body) => {
    const answer = await (await newcomer(holdfast)).post('/api/v1/files/move', body)
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
    expect(answer.body).toMatchObject({ message: expect.stringContaining('files') })
  })
})

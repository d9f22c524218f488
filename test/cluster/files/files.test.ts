import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { detail, list, names } from '../../support/clients/answers.ts'
import { type Api, api, newcomer, refusal, TIMESTAMP } from '../../support/clients/api.ts'
import { atNode, startHoldfast } from '../../support/servers/holdfast.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

/** A caller with files of the given names, uploaded in their order. */
async function owner(...fileNames: string[]): Promise<Api> {
  const caller = await newcomer(holdfast)
  for (const name of fileNames) await caller.put(name, { name })
  return caller
}

describe('the list of files', () => {
  test('describes a file with every field', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('pictures')
    const file = await caller.put('hello', { name: 'hello.txt', folder })
    const answer = await caller.get('/api/v1/files')
    expect(answer.body).toEqual({
      success: true,
      data: [
        {
          id: file.file_id,
          uuid: file.uuid,
          name: 'hello.txt',
          size: 5,
          type: 'text/plain',
          url: file.url,
          folder_id: folder,
          created_at: expect.stringMatching(TIMESTAMP),
          downloads: 0,
          picture_url: expect.stringMatching(/^\/assets\/icon-\w{8}-text-TXT\.svg$/),
        },
      ],
      pagination: { page: 1, per_page: 20, total: 1, pages: 1 },
    })
  })

  test('gives root as the folder of a file in none', async () => {
    const caller = await owner('a')
    expect((await caller.get('/api/v1/files')).body).toMatchObject({ data: [{ folder_id: 'root' }] })
  })

  test('is empty for a new account', async () => {
    const caller = await newcomer(holdfast)
    expect((await caller.get('/api/v1/files')).body).toEqual({
      success: true,
      data: [],
      pagination: { page: 1, per_page: 20, total: 0, pages: 0 },
    })
  })

  test('holds nothing of other accounts and of guests', async () => {
    const caller = await owner('mine')
    await (await newcomer(holdfast)).put('x', { name: 'foreign' })
    await api(holdfast).put('x', { name: 'guest' })
    expect(await names(caller, '')).toEqual(['mine'])
  })

  test('comes in pages that together hold every file once, newest first', async () => {
    const caller = await owner(...Array.from({ length: 25 }, (_, index) => `file ${index}`))
    const first = await list(caller)
    expect(first.data).toHaveLength(20)
    expect(first.pagination).toEqual({ page: 1, per_page: 20, total: 25, pages: 2 })
    const second = await list(caller, '?page=2')
    expect(second.pagination).toEqual({ page: 2, per_page: 20, total: 25, pages: 2 })
    const all = [...first.data, ...second.data]
    expect(all.map((file) => file.name)).toEqual(
      Array.from({ length: 25 }, (_, index) => `file ${24 - index}`),
    )
    const expected = [...all].sort((a, b) => b.created_at.localeCompare(a.created_at) || b.id - a.id)
    expect(all).toEqual(expected)
    expect((await list(caller, '?per_page=1')).pagination).toEqual({
      page: 1,
      per_page: 1,
      total: 25,
      pages: 25,
    })
    expect((await list(caller, '?per_page=100')).data).toHaveLength(25)
    expect((await list(caller, '?per_page=12&page=3')).data).toHaveLength(1)
  })

  test('is empty past its end', async () => {
    const caller = await owner('a', 'b')
    expect(await list(caller, '?page=7')).toEqual({
      data: [],
      pagination: { page: 7, per_page: 20, total: 2, pages: 1 },
    })
  })

  test.each([
    ['page', '0'],
    ['page', '-1'],
    ['page', '1.5'],
    ['page', 'two'],
    ['page', '0x10'],
    ['page', '1;drop'],
    ['per_page', '0'],
    ['per_page', '101'],
    ['per_page', '-5'],
    ['per_page', '2.5'],
    ['per_page', 'many'],
    ['sort', 'colour'],
    ['order', 'sideways'],
  ])('refuses %s=%s, and the message names it', async (parameter, value) => {
    const answer = await (await newcomer(holdfast)).get(
      `/api/v1/files?${parameter}=${encodeURIComponent(value)}`,
    )
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
    expect(answer.body).toMatchObject({ message: expect.stringContaining(parameter) })
  })

  test('never fails for a page far beyond any', async () => {
    const caller = await owner('a')
    for (const page of ['9007199254740991', '99999999999999999999999']) {
      expect([200, 400]).toContain((await caller.get(`/api/v1/files?page=${page}`)).status)
    }
  })
})

describe('the order of files', () => {
  let caller: Api
  beforeAll(async () => {
    caller = await newcomer(holdfast)
    await caller.put('333', { name: 'b.txt' })
    await caller.put('1', { name: 'c.txt' })
    const wanted = await caller.put('22', { name: 'a.txt' })
    await fetch(`${wanted.url}?download=1`).then((response) => response.bytes())
    await holdfast.runJobs()
  })

  test.each([
    ['created_at', 'asc', ['b.txt', 'c.txt', 'a.txt']],
    ['created_at', 'desc', ['a.txt', 'c.txt', 'b.txt']],
    ['name', 'asc', ['a.txt', 'b.txt', 'c.txt']],
    ['name', 'desc', ['c.txt', 'b.txt', 'a.txt']],
    ['size', 'asc', ['c.txt', 'a.txt', 'b.txt']],
    ['size', 'desc', ['b.txt', 'a.txt', 'c.txt']],
  ])('is by %s, %s', async (sort, order, expected) => {
    expect(await names(caller, `?sort=${sort}&order=${order}`)).toEqual(expected)
  })

  test('is by downloads', async () => {
    expect((await names(caller, '?sort=downloads&order=desc'))[0]).toBe('a.txt')
    expect((await names(caller, '?sort=downloads&order=asc'))[2]).toBe('a.txt')
  })

  test('is by the id among equals, in the same direction, over all pages', async () => {
    const twins = await newcomer(holdfast)
    await Promise.all(Array.from({ length: 24 }, () => twins.put('same', { name: 'same.txt' })))
    for (const sort of ['name', 'size', 'downloads']) {
      for (const order of ['asc', 'desc']) {
        const pages = [1, 2, 3, 4].map((page) => `?sort=${sort}&order=${order}&per_page=6&page=${page}`)
        const ids = (await Promise.all(pages.map((page) => list(twins, page)))).flatMap(({ data }) =>
          data.map((file) => file.id),
        )
        expect(ids).toEqual(ids.toSorted((a, b) => (order === 'asc' ? a - b : b - a)))
        expect(new Set(ids).size).toBe(24)
      }
    }
  })

  test('is the same over pages', async () => {
    const pages = [1, 2, 3].map((page) => names(caller, `?sort=name&order=asc&per_page=1&page=${page}`))
    expect((await Promise.all(pages)).flat()).toEqual(['a.txt', 'b.txt', 'c.txt'])
  })
})

describe('the list of files in a folder', () => {
  test('holds the files directly in it, and root those in none', async () => {
    const caller = await newcomer(holdfast)
    const outer = await caller.folder('outer')
    const inner = await caller.folder('inner', { parent: outer })
    await caller.put('x', { name: 'top' })
    await caller.put('x', { name: 'in outer', folder: outer })
    await caller.put('x', { name: 'in inner', folder: inner })
    expect(await names(caller, `?folder=${outer}`)).toEqual(['in outer'])
    expect(await names(caller, `?folder=${inner}`)).toEqual(['in inner'])
    expect(await names(caller, '?folder=root')).toEqual(['top'])
    expect(await names(caller, '?folder=')).toEqual(['in inner', 'in outer', 'top'])
    expect((await list(caller, `?folder=${outer}`)).pagination.total).toBe(1)
  })

  test('is refused for a folder that does not exist or is another’s', async () => {
    const caller = await newcomer(holdfast)
    const foreign = await (await newcomer(holdfast)).folder('foreign')
    for (const folder of ['a'.repeat(16), foreign, '%25', '0']) {
      expect(await caller.get(`/api/v1/files?folder=${folder}`)).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    }
  })
})

describe('one file', () => {
  test('is described with every field, by slug, UUID and number alike', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('one')
    const file = await caller.put('hello', { name: 'hello.txt', folder })
    for (const id of [file.slug, file.uuid, file.uuid.toUpperCase(), file.file_id]) {
      const answer = await caller.get(`/api/v1/file/${id}`)
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({
        success: true,
        data: {
          id: file.file_id,
          uuid: file.uuid,
          slug: file.slug,
          name: 'hello.txt',
          size: 5,
          type: 'text/plain',
          url: file.url,
          has_thumbnail: false,
          created_at: expect.stringMatching(TIMESTAMP),
          downloads: 0,
          views: 0,
          folder_id: folder,
          sha256: file.sha256,
          verified_at: null,
          expires_at: expect.stringMatching(TIMESTAMP),
        },
      })
    }
  })

  test('has root as its folder when it is in none', async () => {
    const caller = await newcomer(holdfast)
    const { slug } = await caller.put('x')
    expect((await caller.get(`/api/v1/file/${slug}`)).body).toMatchObject({ data: { folder_id: 'root' } })
  })

  test('is not found when there is none, or when it is of another account or a guest', async () => {
    const caller = await newcomer(atNode(holdfast))
    const foreign = await (await newcomer(holdfast)).put('x')
    const guest = await api(holdfast).put('x')
    const unknown = [
      'Abcdefghijkl',
      crypto.randomUUID(),
      '0',
      '999999999',
      '99999999999999999999',
      'x%00y',
      '..%2f',
    ]
    const others = [foreign, guest].flatMap((file) => [file.slug, file.uuid, file.file_id])
    for (const id of [...unknown, ...others]) {
      expect(await caller.get(`/api/v1/file/${id}`)).toMatchObject(refusal('FILE_NOT_FOUND'))
    }
  })

  test('of another account is answered in the very words of one that does not exist', async () => {
    const caller = await newcomer(holdfast)
    const foreign = (await (await newcomer(holdfast)).put('x')).slug
    const [first, second] = [
      await caller.get(`/api/v1/file/${foreign}`),
      await caller.get('/api/v1/file/Abcdefghijkl'),
    ]
    const words = (body: unknown, slug: string) => JSON.stringify(body).replaceAll(slug, '')
    expect(words(first.body, foreign)).toBe(words(second.body, 'Abcdefghijkl'))
  })

  test('counts the downloads and views of others', async () => {
    const caller = await newcomer(holdfast)
    const { slug, url } = await caller.put('hello')
    await fetch(`${url}?download=1`).then((response) => response.bytes())
    await fetch(url).then((response) => response.bytes())
    await fetch(url).then((response) => response.bytes())
    await holdfast.runJobs()
    expect(await detail(caller, slug)).toMatchObject({ downloads: 1, views: 2 })
    expect((await caller.get('/api/v1/files')).body).toMatchObject({ data: [{ downloads: 1 }] })
  })
})

test('files, folders and counts are the same after a restart', async () => {
  const own = await startHoldfast()
  try {
    const caller = await newcomer(own)
    const folder = await caller.folder('box')
    const { slug, sha256 } = await caller.put('hello', { folder })
    const { url } = await caller.put('counted')
    await fetch(`${url}?download=1`).then((response) => response.bytes())
    await own.restart()
    expect((await caller.get(`/api/v1/file/${slug}`)).body).toMatchObject({
      data: { folder_id: folder, sha256 },
    })
    expect((await caller.get('/api/v1/files')).body).toMatchObject({
      data: [{ downloads: 1 }, { downloads: 0 }],
    })
    expect((await caller.get('/api/v1/account')).body).toMatchObject({
      data: { storage_used: 12, files_count: 2, folders_count: 1 },
    })
  } finally {
    await own.stop()
  }
})

describe('a rename', () => {
  test('answers the detail with the new name, by slug, UUID and number', async () => {
    const caller = await newcomer(holdfast)
    const file = await caller.put('x', { name: 'old.txt' })
    for (const id of [file.slug, file.uuid, file.file_id]) {
      const answer = await caller.patch(`/api/v1/file/${id}`, { name: `${id} Ünïcödé.txt` })
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual((await caller.get(`/api/v1/file/${id}`)).body)
      expect(answer.body).toMatchObject({
        success: true,
        data: { id: file.file_id, name: `${id} Ünïcödé.txt` },
      })
    }
  })

  test('lets the search find the new name and not the old', async () => {
    const caller = await newcomer(holdfast)
    const { slug } = await caller.put('x', { name: 'caterpillar' })
    await caller.patch(`/api/v1/file/${slug}`, { name: 'butterfly' })
    expect(await names(caller, '?search=caterpillar')).toEqual([])
    expect(await names(caller, '?search=BUTTER')).toEqual(['butterfly'])
  })

  test('cleans the new name as an upload does', async () => {
    const caller = await newcomer(holdfast)
    const { slug } = await caller.put('x')
    const rename = async (name: string) => {
      const { body } = await caller.patch(`/api/v1/file/${slug}`, { name })
      return z.object({ data: z.object({ name: z.string() }) }).parse(body).data.name
    }
    expect(await rename('e\u0301\u202e\u0007.txt')).toBe('é.txt')
    expect(await rename(`${'é'.repeat(200)}.txt`)).toBe(`${'é'.repeat(125)}.txt`)
  })

  test('is refused without a name or with one that is not text, and the message names it', async () => {
    const caller = await newcomer(holdfast)
    const { slug } = await caller.put('x', { name: 'kept' })
    for (const body of [{}, { name: null }, { name: 5 }, { name: ['x'] }]) {
      const answer = await caller.patch(`/api/v1/file/${slug}`, body)
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ message: expect.stringContaining('name') })
    }
    expect(await names(caller, '')).toEqual(['kept'])
  })

  test('of another account’s or an unknown file is not found', async () => {
    const foreign = await (await newcomer(holdfast)).put('x', { name: 'foreign' })
    const caller = await newcomer(holdfast)
    for (const id of [foreign.slug, foreign.uuid, foreign.file_id, 'Abcdefghijkl']) {
      expect(await caller.patch(`/api/v1/file/${id}`, { name: 'taken' })).toMatchObject(
        refusal('FILE_NOT_FOUND'),
      )
    }
  })
})

/** What is put into the bin, and what becomes of it there. */
import { describe, expect, test } from 'bun:test'
import { DAY } from '../../../../src/domain/clock.ts'
import { folders, names } from '../../../support/clients/answers.ts'
import { type Api, newcomer, refusal } from '../../../support/clients/api.ts'
import { binOf, intoBin, restore, totals } from '../../../support/clients/bin.ts'
import { filesIn, flaws, readTree } from '../../../support/clients/folder-tree.ts'
import { startHoldfast } from '../../../support/servers/holdfast.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const holdfast = await hostOfFile({ rateLimit: 1_000_000 })

const statusOf = async (url: string) => (await fetch(url, { redirect: 'manual' })).status
const page = (folder: string) => statusOf(`${holdfast.url}/f/${folder}`)

/** outer > inner with a file in each, and one of each beside them. */
async function tree(caller: Api) {
  const outer = await caller.folder('outer')
  const inner = await caller.folder('inner', { parent: outer, password: 'sesame' })
  return {
    outer,
    inner,
    beside: await caller.folder('beside'),
    inOuter: await caller.put('12', { folder: outer, name: 'outer.txt' }),
    inInner: await caller.put('345', { folder: inner, name: 'inner.txt' }),
    kept: await caller.put('6789', { name: 'kept.txt' }),
  }
}

describe('a file in the bin', () => {
  test('is gone for everybody and from every list, counts as storage, and comes back as it was', async () => {
    const caller = await newcomer(holdfast)
    const { outer, inOuter: file } = await tree(caller)
    const before = (await caller.get(`/api/v1/file/${file.slug}`)).body
    const content = new URL(
      (await fetch(`${file.url}?download=1`, { redirect: 'manual' })).headers.get('location') ?? '',
    )
    const [entry = 0, ofUuid] = await intoBin(caller, { files: [file.slug, file.uuid] })

    expect(ofUuid).toBe(entry)
    for (const id of [file.slug, file.uuid, file.file_id]) {
      expect(await caller.get(`/api/v1/file/${id}`)).toMatchObject(refusal('FILE_NOT_FOUND'))
    }
    expect(await statusOf(file.url)).toBe(404)
    expect(await statusOf(content.href)).toBe(404)
    expect(await names(caller, '?sort=name&order=asc')).toEqual(['inner.txt', 'kept.txt'])
    expect(await names(caller, '?search=outer')).toEqual([])
    expect(await filesIn(caller, outer)).toEqual([])
    const zip = await caller.post('/api/v1/files/download', { files: [file.slug] })
    expect(zip).toMatchObject(refusal('FILE_NOT_FOUND'))
    expect(await totals(caller)).toMatchObject({ storage_used: 9, storage_in_bin: 2, files_count: 2 })
    expect(await binOf(caller)).toMatchObject([
      { id: entry, kind: 'file', name: 'outer.txt', size: 2, files: 1, folder_id: outer, restoring: false },
    ])

    await restore(caller, [entry])
    const after = (await caller.get(`/api/v1/file/${file.slug}`)).body
    expect(after).toEqual({ success: true, data: { ...dataOf(before), expires_at: expect.any(String) } })
    expect(await statusOf(content.href)).toBe(200)
    expect(await binOf(caller)).toEqual([])
    expect(await totals(caller)).toMatchObject({ storage_used: 9, storage_in_bin: 0, files_count: 3 })
    expect(flaws(await readTree(caller))).toEqual([])
  })

  test('comes back to the top level when its folder is gone, unless that kept others out', async () => {
    const caller = await newcomer(holdfast)
    const open = await caller.folder('open')
    const hidden = await caller.folder('hidden', { public: 0 })
    const target = await caller.folder('target')
    const files = [await caller.put('1', { folder: open }), await caller.put('2', { folder: hidden })]
    const entries = await intoBin(caller, { files: files.map(({ slug }) => slug) })
    await caller.post('/folder/delete', { identifiers: [open, hidden] })
    await holdfast.runJobs()
    expect((await binOf(caller)).map(({ folder_id }) => folder_id)).toEqual([null, null])

    const answer = await caller.post('/api/v1/bin/restore', { entries })
    const [first, second] = entries
    expect(answer.body).toMatchObject({
      success: false,
      data: {
        restored: 1,
        failed: 1,
        results: [
          { entry: first, success: true },
          { entry: second, success: false, error: 'FOLDER_NOT_FOUND' },
        ],
      },
    })
    expect(await filesIn(caller, 'root')).toEqual([files[0]?.slug ?? ''])
    await restore(caller, [second ?? 0], { folder: target })
    expect(await filesIn(caller, target)).toEqual([files[1]?.slug ?? ''])
    await holdfast.runJobs()
    expect(flaws(await readTree(caller))).toEqual([])
  })
})

describe('a folder in the bin', () => {
  test.each([
    ['at once', async () => {}],
    ['marked in the background', () => holdfast.runJobs()],
  ])('goes and comes back with all that is in it as one entry: %s', async (_, meanwhile) => {
    const caller = await newcomer(holdfast)
    const { outer, inner, beside, inOuter, inInner } = await tree(caller)
    const before = await readTree(caller)
    const [entry = 0] = await intoBin(caller, { folders: [outer] })
    await meanwhile()

    for (const { slug, url } of [inOuter, inInner]) {
      expect(await caller.get(`/api/v1/file/${slug}`)).toMatchObject(refusal('FILE_NOT_FOUND'))
      expect(await statusOf(url)).toBe(404)
    }
    for (const folder of [outer, inner]) {
      expect(await caller.get(`/api/v1/folder/${folder}`)).toMatchObject(refusal('FOLDER_NOT_FOUND'))
      expect(await caller.upload('x', { folder })).toMatchObject(refusal('FOLDER_NOT_FOUND'))
      expect(await page(folder)).toBe(404)
    }
    expect((await folders(caller)).map(({ id }) => id)).toEqual([beside])
    expect(await names(caller, '')).toEqual(['kept.txt'])
    expect(await names(caller, '?search=txt')).toEqual(['kept.txt'])
    expect(await totals(caller)).toEqual({
      storage_used: 9,
      storage_in_bin: 5,
      files_count: 1,
      folders_count: 1,
    })
    expect(await binOf(caller)).toMatchObject([
      { id: entry, kind: 'folder', name: 'outer', size: 5, files: 2, folder_id: 'root' },
    ])

    await restore(caller, [entry])
    expect(await readTree(caller)).toEqual(before)
    expect(flaws(await readTree(caller))).toEqual([])
    expect((await caller.get(`/api/v1/folder/${inner}`)).body).toMatchObject({ data: { has_password: true } })
    expect(await statusOf(inOuter.url)).toBe(200)
    expect(await (await fetch(inInner.url)).text()).toContain('password-form')
    await holdfast.runJobs()
    expect(await readTree(caller)).toEqual(before)
  })

  test('keeps what was put into the bin before it as entries of their own', async () => {
    const caller = await newcomer(holdfast)
    const { outer, inner, inOuter } = await tree(caller)
    const [file = 0] = await intoBin(caller, { files: [inOuter.slug] })
    const [below = 0] = await intoBin(caller, { folders: [inner] })
    const [whole = 0] = await intoBin(caller, { folders: [outer] })
    await holdfast.runJobs()
    await restore(caller, [whole])
    expect(await filesIn(caller, outer)).toEqual([])
    await restore(caller, [below, file])
    expect(await filesIn(caller, outer)).toEqual([inOuter.slug])
    expect(flaws(await readTree(caller))).toEqual([])
  })

  test('takes folders in it along that are named after it', async () => {
    const caller = await newcomer(holdfast)
    const { outer, inner } = await tree(caller)
    const before = await readTree(caller)
    const [whole = 0, below] = await intoBin(caller, { folders: [outer, inner] })
    expect(below).toBe(whole)
    await restore(caller, [whole])
    expect(await readTree(caller)).toEqual(before)
  })

  test('comes back under a name with a number where its own is taken', async () => {
    const caller = await newcomer(holdfast)
    const entries: number[] = []
    for (let round = 0; round < 3; round++) {
      entries.push(...(await intoBin(caller, { folders: [await caller.folder('Photos')] })))
    }
    await restore(caller, entries)
    const found = (await folders(caller)).map(({ name }) => name)
    expect(found.sort()).toEqual(['Photos', 'Photos (2)', 'Photos (3)'])
  })

  test('comes back to the top level when its place is gone, private if that had kept others out', async () => {
    const caller = await newcomer(holdfast)
    const places = [await caller.folder('open'), await caller.folder('locked', { password: 'sesame' })]
    const [open = '', locked = ''] = places
    const inOpen = await caller.folder('in open', { parent: open })
    const inLocked = await caller.folder('in locked', { parent: locked })
    const entries = await intoBin(caller, { folders: [inOpen, inLocked] })
    const [gone = 0] = await intoBin(caller, { folders: [open] })
    await caller.post('/folder/delete', { identifiers: [locked] })
    await caller.post('/api/v1/bin/delete', { entries: [gone] })
    await holdfast.runJobs()
    await restore(caller, entries)
    expect(await folders(caller)).toMatchObject([
      { id: inOpen, parent: null, public: true },
      { id: inLocked, parent: null, public: false },
    ])
  })

  test('comes back elsewhere when asked to, and never deeper than folders may stand', async () => {
    const own = await startHoldfast({ maxFolderDepth: 2 })
    try {
      const caller = await newcomer(own)
      const outer = await caller.folder('outer')
      await caller.folder('inner', { parent: outer })
      const other = await caller.folder('other')
      const [entry = 0] = await intoBin(caller, { folders: [outer] })
      await own.runJobs()
      const answer = await caller.post('/api/v1/bin/restore', { entries: [entry], folder: other })
      expect(answer.body).toMatchObject({ data: { results: [{ error: 'MAX_DEPTH_EXCEEDED' }] } })
      const unknown = await caller.post('/api/v1/bin/restore', { entries: [entry], folder: outer })
      expect(unknown).toMatchObject(refusal('FOLDER_NOT_FOUND'))
      await restore(caller, [entry])
      const moved = await caller.folder('moved')
      const [flat = 0] = await intoBin(caller, { folders: [moved] })
      await restore(caller, [flat], { folder: other })
      expect((await caller.get(`/api/v1/folder/${moved}`)).body).toMatchObject({ data: { parent: other } })
      expect(flaws(await readTree(caller))).toEqual([])
    } finally {
      await own.stop()
    }
  })
})

describe('what is deleted from the bin', () => {
  test('is gone for good, and its room is free at once', async () => {
    const caller = await newcomer(holdfast)
    const { outer, kept } = await tree(caller)
    const [folder = 0, file = 0] = [
      ...(await intoBin(caller, { folders: [outer] })),
      ...(await intoBin(caller, { files: [kept.slug] })),
    ]
    await holdfast.runJobs()
    const answer = await caller.post('/api/v1/bin/delete', { entries: [folder, 999_999_999] })
    expect(answer.body).toMatchObject({
      success: false,
      data: { deleted: 1, failed: 1, results: [{ success: true }, { success: false, error: 'NOT_FOUND' }] },
    })
    expect(await totals(caller)).toMatchObject({ storage_used: 4, storage_in_bin: 4 })
    expect((await binOf(caller)).map(({ id }) => id)).toEqual([file])
    const emptied = await caller.send('/api/v1/bin', { method: 'DELETE' })
    expect(emptied.body).toMatchObject({ success: true, data: { deleted: 1, size: 4 } })
    expect(await totals(caller)).toMatchObject({ storage_used: 0, storage_in_bin: 0 })
    expect(await binOf(caller)).toEqual([])
    const late = await caller.post('/api/v1/bin/restore', { entries: [file, folder] })
    expect(late.body).toMatchObject({ success: false, data: { restored: 0 } })
    await holdfast.runJobs()
    expect(flaws(await readTree(caller))).toEqual([])
  })

  test('goes by itself after seven days and not before, its bytes with it, whatever the clock says meanwhile', async () => {
    const own = await startHoldfast()
    try {
      const caller = await newcomer(own)
      const { outer } = await tree(caller)
      await intoBin(caller, { folders: [outer] })
      const [{ expires_at } = { expires_at: '' }] = await binOf(caller)
      const days = (Date.parse(expires_at) - own.clock.now()) / DAY
      expect(Math.round(days)).toBe(7)
      own.clock.leap(8 * DAY)
      await own.runJobs()
      expect(await binOf(caller)).toHaveLength(1)
      own.clock.leap(-8 * DAY)
      await own.runJobs()
      own.clock.advance(7 * DAY - 60_000)
      await own.runJobs()
      expect(await binOf(caller)).toHaveLength(1)
      own.clock.advance(61_000)
      await own.runJobs()
      expect(await binOf(caller)).toEqual([])
      expect(await totals(caller)).toMatchObject({ storage_used: 4, files_count: 1, folders_count: 1 })
      own.clock.advance(61_000)
      await own.runJobs()
      expect(await own.storedBlobs()).toHaveLength(1)
    } finally {
      await own.stop()
    }
  })
})

test('another account’s entries and things are as those that are not there', async () => {
  const [owner, stranger] = [await newcomer(holdfast), await newcomer(holdfast)]
  const folder = await owner.folder('mine')
  const { slug } = await owner.put('x', { folder })
  const [entry = 0] = await intoBin(owner, { files: [slug] })
  const before = await readTree(owner)
  const mine = await stranger.put('y')
  const put = await stranger.post('/api/v1/bin', { files: [slug, mine.slug], folders: [folder] })
  expect(put.body).toMatchObject({
    success: false,
    data: {
      binned: 1,
      failed: 2,
      results: [
        { file: slug, error: 'FILE_NOT_FOUND' },
        { file: mine.slug, success: true },
        { folder, error: 'FOLDER_NOT_FOUND' },
      ],
    },
  })
  for (const path of ['/api/v1/bin/restore', '/api/v1/bin/delete']) {
    const answer = await stranger.post(path, { entries: [entry] })
    expect(answer.body).toMatchObject({ success: false, data: { results: [{ error: 'NOT_FOUND' }] } })
  }
  await stranger.send('/api/v1/bin', { method: 'DELETE' })
  expect(await readTree(owner)).toEqual(before)
  expect(await binOf(owner)).toHaveLength(1)
})

test('a wrong body is refused', async () => {
  const caller = await newcomer(holdfast)
  const many = (count: number) => Array.from({ length: count }, () => 'x')
  const wrong: readonly [string, object][] = [
    ['/api/v1/bin', {}],
    ['/api/v1/bin', { files: [] }],
    ['/api/v1/bin', { files: 'x' }],
    ['/api/v1/bin', { files: many(100), folders: many(101) }],
    ['/api/v1/bin/restore', { entries: [] }],
    ['/api/v1/bin/restore', { entries: ['1'] }],
    ['/api/v1/bin/restore', { entries: [1], folder: 7 }],
    ['/api/v1/bin/delete', { entries: [0] }],
  ]
  for (const [path, body] of wrong)
    expect(await caller.post(path, body)).toMatchObject(refusal('INVALID_REQUEST'))
})

test('of two who restore at once, and two who delete at once, one does it', async () => {
  const caller = await newcomer(holdfast)
  for (const path of ['restore', 'delete']) {
    const { slug } = await caller.put('x')
    const entries = await intoBin(caller, { files: [slug] })
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => caller.post(`/api/v1/bin/${path}`, { entries })),
    )
    expect(answers.filter(({ body }) => Bun.deepMatch({ success: true }, body))).toHaveLength(1)
  }
  expect(await totals(caller)).toMatchObject({ storage_used: 1, storage_in_bin: 0, files_count: 1 })
})

function dataOf(body: unknown): object {
  return typeof body === 'object' && body !== null && 'data' in body && typeof body.data === 'object'
    ? (body.data ?? {})
    : {}
}

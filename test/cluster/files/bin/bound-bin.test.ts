/** What a key for one folder sees and does of the bin, of events and of uploads whose address is lost. */
import { beforeEach, describe, expect, test } from 'bun:test'
import type { FolderIdentifier } from '../../../../src/domain/ids.ts'
import { names } from '../../../support/clients/answers.ts'
import { type Api, api, refusal } from '../../../support/clients/api.ts'
import { binOf, intoBin, restore, totals } from '../../../support/clients/bin.ts'
import { watchEvents } from '../../../support/clients/events.ts'
import { tus } from '../../../support/clients/tus.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

/** above > inside > below, the key being for `inside`, with a file in each. */
let owner: Api
let bound: Api
let boundKey: string
let above: string
let inside: string
let below: string
let files: { above: string; inside: string; below: string }

beforeEach(async () => {
  const { apiKey, username } = await holdfast.addAccount()
  owner = api(holdfast, apiKey)
  above = await owner.folder('above')
  inside = await owner.folder('inside', { parent: above })
  below = await owner.folder('below', { parent: inside })
  const put = async (content: string, name: string, folder: string) =>
    (await owner.put(content, { name, folder })).slug
  files = {
    above: await put('12', 'above.txt', above),
    inside: await put('123', 'inside.txt', inside),
    below: await put('1234', 'below.txt', below),
  }
  boundKey = await holdfast.addKey(username, { folder: inside as FolderIdentifier })
  bound = api(holdfast, boundKey)
})

const failed = (error: string) => ({ status: 200, body: { success: false, data: { results: [{ error }] } } })

describe('the bin, for a key for one folder,', () => {
  test('holds what was in that folder, however deep, and nothing else', async () => {
    const [outside] = await intoBin(owner, { files: [files.above] })
    expect(await binOf(bound)).toEqual([])
    expect(await totals(bound)).toMatchObject({ storage_in_bin: 0, storage_used: 7 })
    const [deep, own] = await intoBin(bound, { files: [files.below, files.inside] })
    // Now the place of the first is itself in the bin.
    const [tree] = await intoBin(owner, { folders: [below] })
    expect((await binOf(bound)).map(({ id }) => id)).toEqual([tree, own, deep].map(Number))
    expect((await bound.get('/api/v1/bin?per_page=1&page=3')).body).toMatchObject({
      data: [{ id: deep, folder_id: null }],
      pagination: { total: 3, pages: 3 },
    })
    expect(await totals(bound)).toMatchObject({ storage_in_bin: 7, storage_used: 7, files_count: 0 })
    expect((await binOf(owner)).map(({ id }) => id)).toContain(Number(outside))
  })

  test('lets nothing outside be put in, brought back, sought as a place or deleted', async () => {
    const outside = await intoBin(owner, { files: [files.above] })
    const own = await intoBin(owner, { files: [files.inside] })
    const { slug: live } = await owner.put('12345', { folder: above })
    const put = await bound.post('/api/v1/bin', { files: [files.above, live], folders: [above] })
    expect(put.body).toMatchObject({
      data: {
        results: [{ error: 'FILE_NOT_FOUND' }, { error: 'FILE_NOT_FOUND' }, { error: 'FOLDER_NOT_FOUND' }],
      },
    })
    expect(await bound.post('/api/v1/bin', { folders: [inside] })).toMatchObject(failed('INVALID_REQUEST'))
    for (const entries of [outside, [999_999_999]]) {
      for (const more of [{}, { folder: below }]) {
        expect(await bound.post('/api/v1/bin/restore', { entries, ...more })).toMatchObject(
          failed('NOT_FOUND'),
        )
      }
      expect(await bound.post('/api/v1/bin/delete', { entries })).toMatchObject(failed('NOT_FOUND'))
    }
    expect(await bound.post('/api/v1/bin/restore', { entries: own, folder: above })).toMatchObject(
      refusal('FOLDER_NOT_FOUND'),
    )
    expect(await bound.send('/api/v1/bin', { method: 'DELETE' })).toMatchObject(refusal('INVALID_REQUEST'))
    expect((await binOf(owner)).map(({ id }) => id)).toEqual([...own, ...outside])
  })

  test('gives back what was there, and needs a place within reach when the old one is gone', async () => {
    const [deep = 0, own = 0] = await intoBin(owner, { files: [files.below, files.inside] })
    await restore(bound, [own])
    expect(await names(bound, '?folder=root')).toEqual(['inside.txt'])
    const [tree = 0] = await intoBin(bound, { folders: [below] })
    expect(await bound.post('/api/v1/bin/restore', { entries: [deep] })).toMatchObject(
      failed('FOLDER_NOT_FOUND'),
    )
    await restore(bound, [deep], { folder: 'root' })
    expect(await names(bound, '?folder=root&sort=name&order=asc')).toEqual(['below.txt', 'inside.txt'])
    await restore(bound, [tree])
    expect((await bound.get(`/api/v1/folder/${below}`)).body).toMatchObject({ data: { parent: inside } })
    const again = await intoBin(bound, { folders: [below] })
    expect(await bound.post('/api/v1/bin/delete', { entries: again })).toMatchObject({
      body: { success: true, data: { deleted: 1 } },
    })
  })

  test('is empty when its folder is in the bin itself, or what was there has left', async () => {
    await intoBin(owner, { files: [files.below] })
    await owner.post('/api/v1/folder/move', { folder: below, parent: above })
    expect(await binOf(bound)).toEqual([])
    await owner.post('/api/v1/folder/move', { folder: below, parent: inside })
    const own = await binOf(bound)
    expect(own).toHaveLength(1)
    await intoBin(owner, { folders: [above] })
    expect(await binOf(bound)).toEqual([])
    const entries = own.map(({ id }) => id)
    expect(await bound.post('/api/v1/bin/delete', { entries })).toMatchObject(failed('NOT_FOUND'))
    expect(await totals(bound)).toMatchObject({ storage_in_bin: 0, storage_used: 0 })
  })
})

test('a key for one folder deletes nothing from the bin once that folder is in it', async () => {
  const entries = await intoBin(bound, { files: [files.inside] })
  await intoBin(owner, { folders: [inside] })
  expect(await bound.post('/api/v1/bin/delete', { entries })).toMatchObject(failed('NOT_FOUND'))
})

test('events tell a key for one folder what happens in it, and of a border that is crossed one side', async () => {
  await using watcher = await watchEvents(holdfast, boundKey)
  const idOf = async (folder: string) => (await owner.put('x', { folder })).file_id
  await idOf(above)
  await owner.folder('beside')
  const added = await idOf(below)
  await watcher.until(({ data }) => data.kind === 'file.added')
  await owner.post('/api/v1/file/move', { file: files.above, folder: inside })
  await owner.post('/api/v1/file/move', { file: added, folder: above })
  // A place is judged when it is told, so what is to be told of `below` is waited for before that moves.
  await watcher.until(({ data }) => data.kind === 'file.removed')
  await intoBin(owner, { files: [added] })
  await owner.post('/api/v1/folder/move', { folder: below, parent: above })
  await watcher.until(({ data }) => data.kind === 'folder.removed')
  await owner.post('/api/v1/folder/move', { folder: below, parent: inside })
  await owner.patch(`/api/v1/folder/${above}`, { name: 'renamed' })
  await owner.patch(`/api/v1/folder/${inside}`, { name: 'renamed' })
  await owner.post('/api/v1/folder/move', { folder: inside })
  const last = await owner.folder('last', { parent: below })
  await watcher.until(({ data }) => data.folder === last)
  const moved = expect.any(Number)
  expect(watcher.events.map(({ event, data }) => (event === 'change' ? data : event))).toEqual([
    'ready',
    { kind: 'file.added', file: added, place: below },
    { kind: 'file.added', file: moved, place: inside },
    { kind: 'file.removed', file: added, place: below },
    { kind: 'folder.removed', folder: below, place: inside },
    { kind: 'folder.added', folder: below, place: inside },
    { kind: 'folder.changed', folder: inside },
    { kind: 'folder.added', folder: last, place: below },
  ])
})

test('the way to a folder begins, for a key for one folder, with that one', async () => {
  const path = async (caller: Api, folder: string) => (await caller.get(`/api/v1/folder/${folder}`)).body
  expect(await path(owner, below)).toMatchObject({ data: { path: [{ id: above }, { id: inside }] } })
  expect(await path(bound, below)).toMatchObject({ data: { path: [{ id: inside, name: 'inside' }] } })
  expect(await path(bound, inside)).toMatchObject({ data: { path: [], parent: null } })
  expect(await bound.get(`/api/v1/folder/${above}`)).toMatchObject(refusal('FOLDER_NOT_FOUND'))
  expect((await bound.get('/api/v1/folder/root/folders?page=1')).body).toMatchObject({
    data: [{ id: below, parent: inside }],
    pagination: { total: 1 },
  })
  expect(await bound.get(`/api/v1/folder/${above}/folders?page=1`)).toMatchObject(refusal('FOLDER_NOT_FOUND'))
})

test('a key for one folder ends uploads into it, and no others', async () => {
  const [outer, inner] = [
    await tus(owner).start(5, { folder: above }),
    await tus(owner).start(5, { folder: below }),
  ]
  const cancel = (slug: string) => bound.post('/api/v1/upload/cancel', { slug })
  expect(await cancel(outer.slug)).toMatchObject(refusal('UPLOAD_NOT_FOUND'))
  expect(await tus(owner).offset(outer.path)).toBe(0)
  expect(await cancel(inner.slug)).toMatchObject({ status: 200 })
  expect((await tus(owner).head(inner.path)).status).not.toBe(200)
})

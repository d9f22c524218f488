/** What the file manager asks the server for, and what it makes of answers that come late, in parts, or not at all. */
import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import { z } from 'zod'
import type { FolderListItem } from '../../../src/contract/folders.ts'
import type { BinNumber } from '../../../web/files/bin/bin-client.ts'
import { restoreFromBin } from '../../../web/files/bin/bin-client.ts'
import { type FileEntry, fileKey, type Key, TOP } from '../../../web/files/entry.ts'
import { Manager } from '../../../web/files/manager.ts'
import { moveWork, type OperationDescription, removeWork } from '../../../web/files/operation-work.ts'
import { Operations } from '../../../web/files/operations.ts'
import { eventually } from '../../support/eventually.ts'

const created_at = '2026-01-31T12:00:00.000Z'

const file = (id: number): FileEntry => ({
  kind: 'file',
  key: fileKey(id),
  id,
  uuid: `uuid-${id}`,
  name: `${id}.txt`,
  size: 1,
  type: 'text/plain',
  url: `http://files.example/d/slug${id}`,
  createdAt: created_at,
  downloads: 0,
  pictureUrl: `/t/uuid-${id}`,
  isDamaged: false,
  place: TOP,
})

const fileItem = (id: number) => {
  const { uuid, name, size, type, url, downloads, pictureUrl: picture_url } = file(id)
  return { id, uuid, name, size, type, url, folder_id: 'root', created_at, downloads, picture_url }
}
const folderItem = (id: string): FolderListItem => ({
  id,
  name: id,
  public: true,
  file_count: 0,
  created_at,
  parent: null,
  parent_id: null,
  has_password: false,
  total_files: 0,
  total_folders: 0,
  total_size: 0,
})
const filePage = (ids: readonly number[]) => ({
  success: true,
  data: ids.map(fileItem),
  pagination: { page: 1, per_page: 100, total: ids.length, pages: 1 },
})
/** The answer to a request for several entries, with what it calls those that were done. */
const batch = (done: string, results: readonly { readonly success: boolean }[]) => {
  const failed = results.filter(({ success }) => !success).length
  return {
    success: failed === 0,
    message: '',
    data: { folder: 'root', [done]: results.length - failed, failed, results },
  }
}

const body = z.object({ files: z.array(z.number()).optional(), entries: z.array(z.number()).optional() })

interface Asked {
  readonly path: string
  readonly files: readonly number[]
  readonly entries: readonly number[]
}

/** Stands in for the server; returns what it is asked. */
function answering(answer: (asked: Asked) => object | Promise<object>): Asked[] {
  const all: Asked[] = []
  const answered = async (input: string | URL | Request, request?: RequestInit) => {
    const sent = body.parse(JSON.parse(typeof request?.body === 'string' ? request.body : '{}'))
    const asked = { path: String(input), files: sent.files ?? [], entries: sent.entries ?? [] }
    all.push(asked)
    return Response.json(await answer(asked))
  }
  spyOn(globalThis, 'fetch').mockImplementation(Object.assign(answered, { preconnect() {} }))
  return all
}

/** Puts everything into the bin, under the number of the file and a thousand, and brings everything back. */
function binAnswer({ path, files, entries }: Asked): object {
  if (path === '/api/v1/bin') {
    return batch(
      'binned',
      files.map((id) => ({ success: true, entry: id + 1000 })),
    )
  }
  if (path === '/api/v1/bin/restore') {
    return batch(
      'restored',
      entries.map((entry) => ({ entry, success: true })),
    )
  }
  if (path === '/api/v1/files/move') {
    return batch(
      'moved',
      files.map((id) => ({ file: String(id), success: true })),
    )
  }
  throw new Error(`nobody answers ${path}`)
}

afterEach(() => {
  spyOn(globalThis, 'fetch').mockRestore()
})

describe('the file manager', () => {
  /** At the top level, which holds these files. */
  async function opened(files: number[], answer: (asked: Asked) => object | Promise<object> | null) {
    const asked = answering(async (it) => {
      const own = await answer(it)
      if (own !== null) return own
      if (it.path.startsWith('/api/v1/files?')) return filePage(files)
      if (it.path === '/api/v1/folders') return { success: true, data: [folderItem('b')] }
      return binAnswer(it)
    })
    const manager = new Manager({ sort: 'name', order: 'asc' })
    manager.start(TOP)
    await eventually('it is listed', () => (manager.listing.total() ?? 0) > files.length)
    return { asked, manager }
  }
  const CLICK = { ctrl: false, shift: false }

  test('selects nothing of the list before while another folder opens', async () => {
    const gate = Promise.withResolvers<void>()
    const { manager } = await opened([1, 2], async ({ path }) => {
      if (!path.includes('folder=b')) return null
      await gate.promise
      return filePage([9])
    })
    manager.open('b')
    manager.pick(1, CLICK)
    manager.pick(2, { ctrl: false, shift: true })
    manager.selectAll()
    gate.resolve()
    await eventually('it is open', () => !manager.listing.isOpening())
    expect(await manager.chosen()).toEqual([])
    manager.pick(manager.listing.rowOf(fileKey(9)) ?? -1, CLICK)
    expect((await manager.chosen()).map(({ key }) => key)).toEqual([fileKey(9)])
  })

  test('keeps the focus and the selection on a file that is renamed, and shows where it has gone', async () => {
    const files = [1, 2, 3]
    const { manager } = await opened(files, () => null)
    manager.pick(1, CLICK)
    files.splice(0, 3, 2, 3, 1)
    await manager.renamed(file(1), '4.txt')
    expect(manager.snapshot()).toMatchObject({ selection: { focus: 3, anchor: 3 }, revealed: { row: 3 } })
    expect((await manager.chosen()).map(({ key }) => key)).toEqual([fileKey(1)])
    expect(manager.operations.snapshot()).toMatchObject([{ state: 'over', canUndo: true }])
  })

  test('selects nothing that comes after all was dealt with', async () => {
    const files = [1, 2]
    const { manager } = await opened(files, ({ path }) => {
      if (path === '/api/v1/bin') files.splice(0, 2, 77)
      return null
    })
    manager.selectAll()
    await manager.remove((await manager.chosen()).filter(({ kind }) => kind === 'file'))
    expect(manager.listing.rowOf(fileKey(77))).not.toBeNull()
    expect(await manager.chosen()).toEqual([])
  })

  test('shows files only after the folders that stand before them', async () => {
    const gate = Promise.withResolvers<void>()
    const answered = answering(async ({ path }) => {
      if (path.startsWith('/api/v1/files?')) return filePage([])
      await gate.promise
      return { success: true, data: [folderItem('b')] }
    })
    const manager = new Manager({ sort: 'name', order: 'asc' })
    manager.start(TOP)
    await eventually('the files are here', () => answered.length > 1 && !manager.listing.isOpening())
    expect(manager.listing.total()).toBeNull()
    gate.resolve()
    await eventually('the folders are here', () => manager.listing.total() === 1)
  })

  test.each([
    ['is asked for again', (manager: Manager) => void manager.refresh()],
    ['is sorted', (manager: Manager) => manager.sortBy('size', 'desc')],
  ])('keeps nothing selected or busy that is gone, though the list %s meanwhile', async (_, ask) => {
    const files = [1, 2]
    const lists: PromiseWithResolvers<void>[] = []
    let isHeld = false
    const { manager } = await opened(files, async ({ path }) => {
      if (path === '/api/v1/bin') {
        files.splice(0, 1)
        isHeld = true
      }
      if (!isHeld || !path.startsWith('/api/v1/files?')) return null
      const list = Promise.withResolvers<void>()
      lists.push(list)
      await list.promise
      return null
    })
    manager.pick(manager.listing.rowOf(fileKey(1)) ?? -1, CLICK)
    const removed = manager.remove(await manager.chosen())
    await eventually('the list is asked for', () => lists.length === 1)
    ask(manager)
    await eventually('the list is asked for again', () => lists.length === 2)
    lists[0]?.resolve()
    // Time for whatever would take the first request for the last.
    await Bun.sleep(0)
    expect([...manager.snapshot().busy]).toEqual([fileKey(1)])
    lists[1]?.resolve()
    await removed
    expect([...manager.snapshot().busy]).toEqual([])
    expect(await manager.chosen()).toEqual([])
  })

  test('selects nothing that is gone from the list, though the folders are still to come', async () => {
    const files = [1, 2]
    const gate = Promise.withResolvers<void>()
    const { manager } = await opened(files, async ({ path }) => {
      if (path === '/api/v1/bin') files.splice(0, 1)
      if (path === '/api/v1/folders' && files.length === 1) await gate.promise
      return null
    })
    manager.pick(manager.listing.rowOf(fileKey(1)) ?? -1, CLICK)
    const removed = manager.remove(await manager.chosen())
    await eventually('it is gone', () => manager.listing.rowOf(fileKey(1)) === null)
    await eventually('nothing is selected', async () => (await manager.chosen()).length === 0)
    gate.resolve()
    await removed
  })

  test('shows no tree that is older than the one it shows', async () => {
    const late = Promise.withResolvers<void>()
    const trees = [late.promise.then(() => ['b', 'c']), ['b']]
    let isStarted = false
    const { manager } = await opened([1, 2], async ({ path }) => {
      if (path !== '/api/v1/folders' || !isStarted) return null
      return { success: true, data: ((await trees.shift()) ?? []).map(folderItem) }
    })
    await eventually('there is a tree', () => manager.snapshot().tree !== null)
    isStarted = true
    const older = manager.refresh()
    await manager.refresh()
    late.resolve()
    await older
    expect(manager.snapshot().tree?.find('c')).toBeNull()
    expect(manager.snapshot().tree?.find('b')).not.toBeNull()
  })
})

describe('a deed that is stopped', () => {
  const many = Array.from({ length: 1000 }, (_, id) => file(id))
  const operationsOf = () => new Operations<OperationDescription>(() => () => {})

  test.each([
    ['into the bin', removeWork],
    ['to a folder', (entries: readonly FileEntry[]) => moveWork(entries, 'b')],
  ])('is taken back as far as it went, and nothing else is asked: %s', async (_, deed) => {
    const gate = Promise.withResolvers<void>()
    const asked = answering(async (it) => {
      await gate.promise
      return binAnswer(it)
    })
    const operations = operationsOf()
    void operations.start(deed(many))
    await eventually('the first part is asked for', () => asked.length === 1)
    const undone = operations.undoLast()
    gate.resolve()
    await undone
    expect(asked).toHaveLength(2)
    expect([...(asked[1]?.files ?? []), ...(asked[1]?.entries ?? [])]).toHaveLength(200)
    expect(operations.snapshot()).toMatchObject([{ isUndo: true, total: 200, done: 200, state: 'over' }])
  })

  test('does not look in the bin for what was refused', async () => {
    const asked = answering((it) => {
      if (it.path !== '/api/v1/bin') return binAnswer(it)
      const results = it.files.map((id) =>
        id % 2 === 0 ? { success: true, entry: id } : { success: false, error: 'FILE_NOT_FOUND' },
      )
      return batch('binned', results)
    })
    const operations = operationsOf()
    await operations.start(removeWork(many.slice(0, 4)))
    await operations.undoLast()
    expect(asked.map(({ path }) => path)).toEqual(['/api/v1/bin', '/api/v1/bin/restore'])
    expect(asked[1]?.entries).toEqual([0, 2])
  })
})

test('what cannot come back from the bin is told, and what is there already is back', async () => {
  const codes = ['NOT_FOUND', 'FOLDER_NOT_FOUND', 'MAX_DEPTH_EXCEEDED', 'NOT_FOUND']
  const asked: string[] = []
  const fetching = spyOn(globalThis, 'fetch')
  fetching.mockImplementation(
    Object.assign(
      async (input: string | URL | Request) => {
        const path = String(input)
        asked.push(path)
        if (path.endsWith('/restore')) {
          const results = codes.map((error, entry) => ({ entry, success: false, error }))
          return Response.json(batch('restored', results))
        }
        // The first is back by other ways; the last is nowhere.
        if (path === '/api/v1/file/3') {
          return Response.json({ success: false, message: '', error: 'FILE_NOT_FOUND' }, { status: 404 })
        }
        const more = {
          slug: '',
          has_thumbnail: false,
          views: 0,
          sha256: '',
          verified_at: null,
          expires_at: created_at,
        }
        return Response.json({ success: true, data: { ...fileItem(0), ...more } })
      },
      { preconnect() {} },
    ),
  )
  const entries = codes.map((_, id) => file(id))
  const binned = new Map<Key, BinNumber>(entries.map(({ key, id }) => [key, id]))
  expect(await restoreFromBin(entries, binned)).toEqual([
    { name: '1.txt', code: 'FOLDER_NOT_FOUND' },
    { name: '2.txt', code: 'MAX_DEPTH_EXCEEDED' },
    { name: '3.txt', code: 'GONE' },
  ])
  expect(asked).toEqual(['/api/v1/bin/restore', '/api/v1/file/0', '/api/v1/file/3'])
})

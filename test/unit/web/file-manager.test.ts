/** What the file manager knows without a page: what is selected, what is fetched, where folders are, and what is undone. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Account } from '../../../src/contract/account.ts'
import {
  type Entry,
  type FileEntry,
  type FolderEntry,
  fileKey,
  folderKey,
  TOP,
} from '../../../web/files/entry.ts'
import { foldersListed } from '../../../web/files/folders/folder-order.ts'
import { branches, createFolderTree, treeMove } from '../../../web/files/folders/folder-tree.ts'
import { type FetchWindow, Listing, type Query, WINDOW } from '../../../web/files/list/listing.ts'
import { heightOf, linesOf, rowsInView, scrollTo } from '../../../web/files/list/rows-in-view.ts'
import { type FailedOperation, Operations, type Work } from '../../../web/files/operations.ts'
import { nextFocus } from '../../../web/files/selection/next-focus.ts'
import {
  AT_START,
  extendTo,
  focusOn,
  isSelected,
  rowAfter,
  type Selection,
  selectAll,
  selectedCount,
  selectNone,
  selectOnly,
  toggle,
  withoutGone,
} from '../../../web/files/selection/selection.ts'
import { StorageLevel } from '../../../web/files/storage-level.ts'
import { eventually } from '../../support/eventually.ts'

const file = (id: number): FileEntry => ({
  kind: 'file',
  key: fileKey(id),
  id,
  uuid: `uuid-${id}`,
  name: `${id}.txt`,
  size: id,
  type: 'text/plain',
  url: `http://files.example/d/slug${id}`,
  createdAt: '2026-01-31T12:00:00.000Z',
  downloads: 0,
  pictureUrl: `/t/uuid-${id}`,
  isDamaged: false,
  place: TOP,
})
const folder = (id: string, place = TOP, name = id): FolderEntry => ({
  kind: 'folder',
  key: folderKey(id),
  id,
  name,
  createdAt: '2026-01-31T12:00:00.000Z',
  fileCount: 0,
  isPublic: true,
  hasPassword: false,
  place,
})

describe('a selection', () => {
  const rows = Array.from({ length: 20 }, (_, row) => file(row))
  const at = (row: number): Entry => rows[row] ?? file(row)
  const chosen = (selection: Selection) =>
    rows.flatMap(({ key }, row) => (isSelected(selection, key) ? [row] : []))

  test('is one row by a click, more of them with ctrl, and all between with shift', () => {
    const one = selectOnly(3, at(3))
    expect(chosen(one)).toEqual([3])
    const two = toggle(one, 7, at(7))
    expect(chosen(two)).toEqual([3, 7])
    expect(chosen(toggle(two, 3, at(3)))).toEqual([7])
    const between = extendTo(two, 9, rows.slice(7, 10), false)
    expect(chosen(between)).toEqual([7, 8, 9])
    expect(chosen(extendTo(between, 5, rows.slice(5, 8), false))).toEqual([5, 6, 7])
    expect(chosen(extendTo(two, 9, rows.slice(7, 10), true))).toEqual([3, 7, 8, 9])
  })

  test('of all knows what is left out, without naming the rest', () => {
    const all = selectAll(selectOnly(2, at(2)))
    expect(selectedCount(all, 100_000)).toBe(100_000)
    const most = toggle(toggle(all, 4, at(4)), 5, at(5))
    expect(selectedCount(most, 100_000)).toBe(99_998)
    expect(isSelected(most, fileKey(99_999))).toBe(true)
    expect(isSelected(toggle(most, 4, at(4)), fileKey(4))).toBe(true)
    expect(chosen(selectNone(most))).toEqual([])
  })

  test('loses what is gone, and its focus stays on a row that there is', () => {
    const some = extendTo(focusOn(AT_START, 15), 19, rows.slice(15), false)
    const left = withoutGone(some, 17, new Set([fileKey(16)]))
    expect(chosen(left)).toEqual([15, 17, 18, 19])
    expect(left.focus).toBe(16)
    expect(withoutGone(some, 0, new Set()).focus).toBe(0)
  })

  test('leaves its focus to the neighbour of what is deleted', () => {
    const listed = (row: number) => rows[row] ?? null
    expect(nextFocus(listed, 7, rows.slice(5, 8))).toBe(fileKey(8))
    expect(nextFocus(listed, 19, rows.slice(18))).toBe(fileKey(17))
    expect(nextFocus(listed, 4, rows.slice(5, 8))).toBe(null)
    expect(nextFocus(listed, 4, rows)).toBe(null)
  })

  test.each([
    ['ArrowDown', 0, 1],
    ['ArrowDown', 9, 9],
    ['ArrowUp', 0, 0],
    ['PageDown', 0, 3],
    ['PageUp', 9, 6],
    ['Home', 5, 0],
    ['End', 5, 9],
    ['ArrowRight', 5, null],
    ['x', 5, null],
  ] as const)('goes with %s from row %p of a list to %p', (key, from, to) => {
    expect(rowAfter(key, from, { total: 10, columns: 1, page: 3 })).toBe(to)
  })

  test.each([
    ['ArrowDown', 1, 5],
    ['ArrowDown', 7, 7],
    ['ArrowUp', 2, 2],
    ['ArrowRight', 3, 4],
    ['ArrowLeft', 4, 3],
    ['End', 0, 9],
  ] as const)('goes with %s from tile %p to %p, four in a line', (key, from, to) => {
    expect(rowAfter(key, from, { total: 10, columns: 4, page: 2 })).toBe(to)
  })
})

describe('rows in view', () => {
  const view = fc.record({
    scrolled: fc.nat(5_000_000),
    height: fc.integer({ min: 1, max: 3000 }),
    lineHeight: fc.integer({ min: 20, max: 200 }),
    columns: fc.integer({ min: 1, max: 12 }),
    total: fc.nat(100_000),
  })

  test('are all that can be seen, and few besides', () => {
    fc.assert(
      fc.property(view, ({ total, columns, ...where }) => {
        const scrolled = Math.min(where.scrolled, heightOf(total, columns, where.lineHeight))
        const { first, end } = rowsInView({ ...where, scrolled, total, columns })
        const seen = Math.floor(scrolled / where.lineHeight) * columns
        expect(first).toBeLessThanOrEqual(Math.min(seen, total))
        expect(end).toBeGreaterThanOrEqual(
          Math.min(total, Math.ceil((scrolled + where.height) / where.lineHeight)),
        )
        expect(end - first).toBeLessThanOrEqual((where.height / where.lineHeight + 30) * columns)
      }),
    )
  })

  test('come with the line that has the focus, wherever that is', () => {
    expect(linesOf({ first: 40, end: 44 }, 3, 2)).toEqual([1, 20, 21])
    expect(linesOf({ first: 40, end: 44 }, 99_999, 2)).toEqual([20, 21, 49_999])
    expect(linesOf({ first: 40, end: 44 }, 42, 2)).toEqual([20, 21])
  })

  test('are scrolled no further than it takes', () => {
    const view = { scrolled: 100, height: 100, lineHeight: 10, columns: 1 }
    expect(scrollTo(15, view)).toBe(100)
    expect(scrollTo(5, view)).toBe(50)
    expect(scrollTo(25, view)).toBe(160)
  })
})

describe('the tree', () => {
  const tree = createFolderTree([
    folder('b', 'a'),
    folder('a'),
    folder('c', 'b'),
    folder('z', TOP, 'Ärger 10'),
    folder('y', TOP, 'ärger 9'),
    folder('s', 'b', 'Hauptstraße'),
  ])
  const ids = (folders: readonly FolderEntry[]) => folders.map(({ id }) => id)

  test('knows what is where, by name and number', () => {
    expect(ids(tree.children(TOP))).toEqual(['a', 'y', 'z'])
    expect(ids(tree.path('c'))).toEqual(['a', 'b', 'c'])
    expect(tree.isWithin('c', 'a')).toBe(true)
    expect(tree.isWithin('a', 'c')).toBe(false)
    expect(ids(tree.search('ÄRGER'))).toEqual(['y', 'z'])
    // As the server finds files.
    for (const typed of ['HAUPTSTRASSE', 'hauptstrasse', 'STRAẞE'])
      expect(ids(tree.search(typed))).toEqual(['s'])
  })

  test('is listed by name in either direction, by age where folders have one, and else by name', () => {
    const listed = (sort: Query['sort'], order: Query['order'], search = '') =>
      ids(foldersListed({ place: TOP, search, sort, order }, tree))
    expect(listed('name', 'asc')).toEqual(['a', 'y', 'z'])
    expect(listed('name', 'desc')).toEqual(['z', 'y', 'a'])
    expect(listed('size', 'desc')).toEqual(['a', 'y', 'z'])
    expect(listed('created_at', 'desc')).toEqual(['a', 'y', 'z'])
    expect(listed('name', 'desc', 'ärger')).toEqual(['z', 'y'])
  })

  test('shows open folders alone, and goes by the arrows', () => {
    const shown = branches(tree, new Set(['a']))
    expect(shown.map(({ id, level }) => [id, level])).toEqual([
      [TOP, 1],
      ['a', 2],
      ['b', 3],
      ['y', 2],
      ['z', 2],
    ])
    expect(treeMove('ArrowRight', shown, 'b')).toEqual({ kind: 'open', id: 'b' })
    expect(treeMove('ArrowRight', shown, 'a')).toEqual({ kind: 'focus', id: 'b' })
    expect(treeMove('ArrowLeft', shown, 'b')).toEqual({ kind: 'focus', id: 'a' })
    expect(treeMove('ArrowLeft', shown, 'a')).toEqual({ kind: 'close', id: 'a' })
    expect(treeMove('End', shown, 'a')).toEqual({ kind: 'focus', id: 'z' })
    expect(treeMove('x', shown, 'a')).toBeNull()
  })
})

describe('a listing', () => {
  const QUERY: Query = { place: TOP, search: '', sort: 'name', order: 'asc' }

  /** What a server with so many files would answer, and what it was asked. */
  function server(total: number) {
    const asked: number[] = []
    const here = { total, isAway: false }
    const fetchWindow: FetchWindow = async (_, index) => {
      asked.push(index)
      if (here.isAway) throw new Error('away')
      const count = Math.max(0, Math.min(WINDOW, here.total - index * WINDOW))
      return {
        files: Array.from({ length: count }, (_, at) => file(index * WINDOW + at)),
        total: here.total,
      }
    }
    return { asked, here, listing: new Listing(fetchWindow) }
  }

  test('fetches what is looked at, wherever that is, and forgets the rest', async () => {
    const { asked, listing } = server(100_000)
    listing.open(QUERY, [folder('a'), folder('b')])
    await eventually('it knows how many there are', () => listing.total() === 100_002)
    expect(listing.at(1)?.name).toBe('b')
    expect(listing.at(2)?.name).toBe('0.txt')
    listing.need({ first: 50_000, end: 50_030 })
    await eventually('the rows are here', () => listing.at(50_029) !== null)
    expect(listing.at(50_010)?.name).toBe('50008.txt')
    expect(listing.rowOf(fileKey(50_008))).toBe(50_010)
    expect(listing.at(2)).toBeNull()
    expect(asked).toEqual([0, 499, 500])
  })

  test('tells that there may be more than were counted, until a window further down has counted them', async () => {
    const listing = new Listing(async (_query, index) =>
      index === 0 ? { files: [], total: 10_000, isAtLeast: true } : { files: [], total: 10_050 },
    )
    listing.open({ ...QUERY, search: 'a' }, [])
    await eventually('it knows how many there are at least', () => listing.total() === 10_000)
    expect(listing.isAtLeast()).toBe(true)
    listing.need({ first: 9900, end: 10_000 })
    await eventually('it knows how many there are', () => listing.total() === 10_050)
    expect(listing.isAtLeast()).toBe(false)
    // The first window knows less.
    listing.need({ first: 0, end: 100 })
    await listing.refresh()
    expect([listing.total(), listing.isAtLeast()]).toEqual([10_050, false])
    listing.open(QUERY, [])
    // Until the answer is here it tells what is shown.
    expect([listing.total(), listing.isFound()]).toEqual([10_050, true])
    await eventually('something else is listed', () => !listing.isOpening())
    expect([listing.total(), listing.isAtLeast(), listing.isFound()]).toEqual([10_000, true, false])
  })

  test('gives rows between two that are not here', async () => {
    const { listing } = server(1000)
    listing.open(QUERY, [folder('a')])
    await eventually('it knows how many there are', () => listing.total() === 1001)
    const rows = { first: 0, end: 952 }
    const found = await listing.fetch(rows, new AbortController().signal)
    expect(found.map(({ name }) => name)).toEqual([
      'a',
      ...Array.from({ length: 951 }, (_, at) => `${at}.txt`),
    ])
    const few = await listing.fetch({ first: 301, end: 303 }, new AbortController().signal)
    expect(few.map(({ name }) => name)).toEqual(['300.txt', '301.txt'])
  })

  test('keeps what it shows while it asks again, and while nobody answers', async () => {
    const { here, listing } = server(250)
    listing.open(QUERY, [])
    await eventually('it is here', () => listing.at(0) !== null)
    here.isAway = true
    await listing.refresh()
    expect(listing.failure()).not.toBeNull()
    expect(listing.at(0)?.name).toBe('0.txt')
    here.isAway = false
    here.total = 3
    await listing.refresh()
    expect(listing.failure()).toBeNull()
    expect(listing.total()).toBe(3)
    expect(listing.at(3)).toBeNull()
  })

  test('shows the first file that comes where there was none, though it is looked at meanwhile', async () => {
    const { here, listing } = server(0)
    listing.open(QUERY, [folder('a')])
    await eventually('it is here', () => listing.total() === 1)
    here.total = 1
    const refreshed = listing.refresh()
    listing.need({ first: 0, end: 1 })
    await refreshed
    expect(listing.at(1)?.name).toBe('0.txt')
  })

  test('shows what has changed while it was being opened', async () => {
    const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let asked = 0
    const listing = new Listing(async () => {
      asked += 1
      const total = asked
      await answers[total - 1]?.promise
      return { files: [], total }
    })
    listing.open(QUERY, [])
    const refreshed = listing.refresh()
    expect(asked).toBe(1)
    for (const { resolve } of answers) resolve()
    await refreshed
    expect(listing.total()).toBe(2)
  })

  test('shows nothing of what was asked for before', async () => {
    const answers: PromiseWithResolvers<void>[] = []
    const listing = new Listing(async ({ search }) => {
      const answer = Promise.withResolvers<void>()
      answers.push(answer)
      await answer.promise
      return { files: [file(search.length)], total: 1 }
    })
    listing.open({ ...QUERY, search: 'a' }, [])
    listing.open({ ...QUERY, search: 'ab' }, [])
    answers[1]?.resolve()
    await eventually('the later answer is here', () => listing.at(0)?.name === '2.txt')
    answers[0]?.resolve()
    await Bun.sleep(0)
    expect(listing.at(0)?.name).toBe('2.txt')
  })
})

describe('an operation', () => {
  /** Moves ten things in two requests, each of which does as the next of `course` says. */
  function moves(course: ('done' | 'lost' | 'unanswered' | readonly FailedOperation[])[]) {
    const log: string[] = []
    const batch = (name: string) => ({
      count: 5,
      async run() {
        log.push(name)
        const next = course.shift() ?? 'done'
        if (next === 'lost' || next === 'unanswered') throw new Error(next)
        return next === 'done' ? [] : next
      },
    })
    const back: Work<string> = { kind: 'back', batches: [batch('back')], undo: null }
    const work: Work<string> = { kind: 'move', batches: [batch('first'), batch('second')], undo: () => back }
    const due: (() => void)[] = []
    const operations = new Operations<string>((act) => {
      due.push(act)
      return () => {}
    })
    return { log, work, operations, due, shown: () => operations.snapshot().map((it) => ({ ...it, id: 0 })) }
  }

  test('goes on where the network broke, and says so meanwhile', async () => {
    const { log, work, operations, due } = moves(['done', 'lost', 'unanswered', 'done'])
    const over = operations.start(work)
    await eventually('it waits', () => operations.snapshot()[0]?.state === 'waiting')
    expect(operations.snapshot()[0]).toMatchObject({ done: 5, total: 10, canUndo: true })
    due.at(-1)?.()
    await eventually(
      'it has tried again',
      () => log.length === 3 && operations.snapshot()[0]?.state === 'waiting',
    )
    operations.retry()
    await over
    expect(log).toEqual(['first', 'second', 'second', 'second'])
    expect(operations.snapshot()[0]).toMatchObject({ state: 'over', done: 10, failed: [] })
  })

  test('tells what was refused, and goes on with the rest', async () => {
    const refused = [{ name: 'a', code: 'DUPLICATE_NAME' }]
    const { work, operations } = moves([refused, 'done'])
    await operations.start(work)
    expect(operations.snapshot()[0]).toMatchObject({ state: 'over', done: 9, failed: refused, canUndo: true })
  })

  test('is taken back when it is over, once', async () => {
    const { log, work, operations } = moves([])
    await operations.start(work)
    await operations.undoLast()
    await operations.undoLast()
    expect(log).toEqual(['first', 'second', 'back'])
    expect(operations.snapshot()).toMatchObject([
      { kind: 'back', isUndo: true, state: 'over', canUndo: false },
    ])
  })

  test('is not taken back by a key once a later one has left the list', async () => {
    const { log, work, operations } = moves([[{ name: 'a', code: 'DUPLICATE_NAME' }]])
    await operations.start(work)
    await operations.start(work)
    const [older, later] = operations.snapshot()
    operations.dismiss(later?.id ?? 0)
    await operations.undoLast()
    expect(log).not.toContain('back')
    await operations.undo(older?.id ?? 0)
    expect(log).toContain('back')
    await operations.start(work)
    await operations.undoLast()
    expect(operations.snapshot().map(({ kind }) => kind)).toEqual(['back', 'back'])
  })

  test('is taken back in the middle of a broken network, and does not go on by itself then', async () => {
    const { log, work, operations, due } = moves(['lost', 'lost', 'done'])
    const over = operations.start(work)
    await eventually('it waits', () => operations.snapshot()[0]?.state === 'waiting')
    const undone = operations.undo(operations.snapshot()[0]?.id ?? 0)
    await over
    await eventually('taking it back waits too', () => operations.snapshot()[0]?.state === 'waiting')
    for (const act of due) act()
    await undone
    expect(log).toEqual(['first', 'back', 'back'])
  })
})

const ACCOUNT: Account = {
  id: 1,
  username: 'ada',
  display_name: null,
  storage_used: 0,
  storage_in_bin: 0,
  storage_limit: 100,
  files_count: 0,
  folders_count: 0,
  api_requests_today: 0,
}

test('of two answers about storage the one that was asked for last is shown, though it comes first', async () => {
  const answers = [Promise.withResolvers<Account>(), Promise.withResolvers<Account>()]
  let asked = 0
  const level = new StorageLevel(() => answers[asked++]?.promise ?? Promise.reject(new Error('asked again')))
  const [older, newer] = [level.look(), level.look()]
  answers[1]?.resolve({ ...ACCOUNT, storage_used: 10 })
  await newer
  answers[0]?.resolve({ ...ACCOUNT, storage_used: 100 })
  await older
  expect(level.snapshot()).toBeNull()
})

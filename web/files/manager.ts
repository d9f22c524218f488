import { fetchFolders, fetchWindow } from './client.ts'
import { type Deed, moving, removing } from './deeds.ts'
import { type Entry, type FolderEntry, type Key, type Place, TOP } from './entry.ts'
import { foldersListed } from './folder-order.ts'
import { createFolderTree, type FolderTree } from './folder-tree.ts'
import { createListing, type Listing, type Query, type Sort } from './listing.ts'
import { createOperations, type Operations, type Work } from './operations.ts'
import { type Problem, problemOf } from './problem.ts'
import {
  AT_START,
  extendTo,
  focusOn,
  isSelected,
  type Selection,
  selectAll,
  selectedCount,
  selectNone,
  selectOnly,
  selectThese,
  settled,
  toggle,
} from './selection.ts'

/** What the page shows, and nothing of how. */
export interface Shown {
  readonly query: Query
  /** null before the first answer. */
  readonly tree: FolderTree | null
  readonly selection: Selection
  /** Changes with what is listed. */
  readonly version: number
  /** Entries that something is being done with. */
  readonly busy: ReadonlySet<Key>
  readonly problem: Problem | null
}

export interface Manager {
  /** The same object as long as nothing has changed. */
  snapshot(): Shown
  subscribe(changed: () => void): () => void
  readonly listing: Pick<Listing, 'at' | 'total' | 'need' | 'rowOf' | 'isOpening'>
  readonly operations: Operations<Deed>
  /** Loads what there is. */
  start(place: Place): void
  open(place: Place): void
  search(part: string): void
  sortBy(sort: Sort, order: 'asc' | 'desc'): void
  /** Asks again for everything that is shown. */
  refresh(): Promise<void>
  /** A click, an arrow or a touch on a row. While something else is opening nothing can be selected. */
  pick(row: number, how: Picking): void
  selectAll(): void
  selectNone(): void
  /** All that is selected, wherever it is. Rejects when it cannot be had. */
  chosen(): Promise<readonly Entry[]>
  /** Whether that is everything in the place that is listed. Rejects when it cannot be said. */
  isAllChosen(): Promise<boolean>
  move(entries: readonly Entry[], to: Place): Promise<void>
  /** Into the bin. */
  remove(entries: readonly Entry[]): Promise<void>
  /** Takes an operation back. */
  undo(operation: number): Promise<void>
  undoLast(): Promise<void>
}

export interface Picking {
  readonly ctrl: boolean
  readonly shift: boolean
  /** The focus goes there, and nothing is selected by it. */
  readonly isFocusAlone?: boolean
}

/** Milliseconds until what failed for the network is asked for again. */
const LATER = 5000

export function createManager(locale: string, first: Pick<Query, 'sort' | 'order'>): Manager {
  const listeners = new Set<() => void>()
  const listing = createListing(fetchWindow)
  const operations = createOperations<Deed>((act, wait) => {
    const timer = setTimeout(act, wait)
    return () => clearTimeout(timer)
  })
  const busy = new Map<Key, number>()
  let extending = new AbortController()
  /** How often the tree was asked for, and which of these answers is shown. */
  const trees = { asked: 0, shown: 0 }
  let timer: ReturnType<typeof setTimeout> | undefined
  let treeProblem: Problem | null = null
  let shown: Shown = {
    query: { place: TOP, search: '', ...first },
    tree: null,
    selection: AT_START,
    version: 0,
    busy: new Set(),
    problem: null,
  }

  function show(change: Partial<Shown>): void {
    shown = { ...shown, ...change }
    for (const changed of listeners) changed()
  }

  /** The list and the tree answer in any order. */
  function problemNow(): Problem | null {
    const failure = listing.failure()
    return failure === null ? treeProblem : problemOf(failure)
  }

  listing.subscribe(() => {
    const failure = listing.failure()
    show({
      version: listing.version(),
      problem: problemNow(),
      selection: settled(shown.selection, listing.total() ?? Number.MAX_SAFE_INTEGER, new Set()),
    })
    if (failure !== null) refreshLater(problemOf(failure))
  })

  function refreshLater(problem: Problem): void {
    clearTimeout(timer)
    if (problem !== 'network') return
    timer = setTimeout(() => void refresh(), LATER)
  }

  function list(query: Query): void {
    extending.abort()
    treeProblem = null
    show({ query, selection: AT_START, problem: null })
    listing.open(query, foldersListed(query, shown.tree, locale))
  }

  /** null when something that was asked for later came sooner. */
  async function newestFolders(): Promise<readonly FolderEntry[] | null> {
    trees.asked += 1
    const turn = trees.asked
    try {
      const folders = await fetchFolders()
      if (turn < trees.shown) return null
      trees.shown = turn
      return folders
    } catch (error) {
      if (turn < trees.shown) return null
      throw error
    }
  }

  async function loadTree(): Promise<void> {
    try {
      const folders = await newestFolders()
      if (folders === null) return
      const tree = createFolderTree(folders, locale)
      const { place } = shown.query
      const isGone = place !== TOP && tree.find(place) === null
      treeProblem = isGone ? 'missing' : null
      show({ tree, problem: problemNow() })
      listing.setFolders(foldersListed(shown.query, tree, locale))
    } catch (error) {
      treeProblem = problemOf(error)
      show({ problem: problemNow() })
      refreshLater(treeProblem)
    }
  }

  async function refresh(): Promise<void> {
    clearTimeout(timer)
    await Promise.all([loadTree(), listing.refresh()])
  }

  /** Does it, with the entries marked until the list shows what has come of it. */
  async function perform(entries: readonly Entry[], work: Work<Deed>): Promise<void> {
    mark(entries, 1)
    // What comes later is not among what it was asked for.
    if (shown.selection.selected.kind === 'all') show({ selection: selectThese(shown.selection, entries) })
    await operations.start(work)
    await refresh()
    const gone = entries.filter(({ key }) => listing.rowOf(key) === null).map(({ key }) => key)
    show({ selection: settled(shown.selection, listing.total() ?? 0, new Set(gone)) })
    mark(entries, -1)
  }

  function mark(entries: readonly Entry[], by: 1 | -1): void {
    for (const { key } of entries) {
      const times = (busy.get(key) ?? 0) + by
      if (times > 0) busy.set(key, times)
      else busy.delete(key)
    }
    show({ busy: new Set(busy.keys()) })
  }

  async function extend(row: number, adds: boolean): Promise<void> {
    extending.abort()
    extending = new AbortController()
    const { signal } = extending
    const { anchor } = shown.selection
    show({ selection: { ...shown.selection, focus: row } })
    const rows = { first: Math.min(anchor, row), end: Math.max(anchor, row) + 1 }
    try {
      const between = await listing.fetch(rows, signal)
      if (!signal.aborted) show({ selection: extendTo(shown.selection, row, between, adds) })
    } catch (error) {
      if (!signal.aborted) show({ problem: problemOf(error) })
    }
  }

  return {
    snapshot: () => shown,
    subscribe(changed) {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    listing,
    operations,
    start(place) {
      list({ ...shown.query, place })
      void loadTree()
    },
    open: (place) => list({ ...shown.query, place, search: '' }),
    search: (part) => list({ ...shown.query, search: part }),
    sortBy: (sort, order) => list({ ...shown.query, sort, order }),
    refresh,
    pick(row, { ctrl, shift, isFocusAlone = false }) {
      // The rows are still those of the list before.
      if (listing.isOpening()) return
      if (shift) {
        void extend(row, ctrl)
        return
      }
      extending.abort()
      const entry = listing.at(row)
      if (isFocusAlone || entry === null) show({ selection: focusOn(shown.selection, row) })
      else show({ selection: ctrl ? toggle(shown.selection, row, entry) : selectOnly(row, entry) })
    },
    selectAll() {
      if (!listing.isOpening()) show({ selection: selectAll(shown.selection) })
    },
    selectNone: () => show({ selection: selectNone(shown.selection) }),
    async chosen() {
      const { selection } = shown
      if (selection.selected.kind === 'these') return [...selection.selected.entries.values()]
      const rows = { first: 0, end: listing.total() ?? 0 }
      const all = await listing.fetch(rows, new AbortController().signal)
      return all.filter(({ key }) => isSelected(selection, key))
    },
    async isAllChosen() {
      const { selection, query } = shown
      const total = listing.total() ?? 0
      if (query.search !== '' || selectedCount(selection, total) !== total) return false
      if (selection.selected.kind === 'all') return true
      const all = await listing.fetch({ first: 0, end: total }, new AbortController().signal)
      return all.every(({ key }) => isSelected(selection, key))
    },
    async move(entries, to) {
      const moved = entries.filter(({ place }) => place !== to)
      if (moved.length > 0) await perform(moved, moving(moved, to))
    },
    remove: (entries) => perform(entries, removing(entries)),
    async undo(operation) {
      await operations.undo(operation)
      await refresh()
    },
    async undoLast() {
      await operations.undoLast()
      await refresh()
    },
  }
}

import { BusyEntries } from './busy-entries.ts'
import { fetchAccount, fetchFolders, fetchWindow } from './client.ts'
import { type Entry, type Key, type Place, TOP } from './entry.ts'
import { foldersListed } from './folders/folder-order.ts'
import { createFolderTree } from './folders/folder-tree.ts'
import { NewestFolders } from './folders/newest-folders.ts'
import { Listing, type Query, type Sort } from './list/listing.ts'
import type { ManagerView, Picking } from './manager-view.ts'
import { moveWork, type OperationDescription, removeWork, renameWork } from './operation-work.ts'
import { later, Operations, type Work } from './operations.ts'
import { type ListProblem, problemOf } from './problem.ts'
import { nextFocus } from './selection/next-focus.ts'
import {
  AT_START,
  extendTo,
  focusMoved,
  focusOn,
  isSelected,
  type Selection,
  selectAll,
  selectedCount,
  selectNone,
  selectOnly,
  selectThese,
  toggle,
  withoutGone,
} from './selection/selection.ts'
import { StorageLevel } from './storage-level.ts'

/** Rows searched for an entry that is not loaded any more. */
const SEARCHED = 1000

/** Milliseconds before a retry: half as long as the network has failed, within these bounds. */
const [SOON, LATER] = [5000, 60_000]

export class Manager {
  readonly listing = new Listing(fetchWindow)
  readonly operations = new Operations<OperationDescription>(later)
  readonly storage = new StorageLevel(fetchAccount)
  readonly #listeners = new Set<() => void>()
  readonly #busy = new BusyEntries()
  #failingSince: number | null = null
  #extending = new AbortController()
  readonly #folders = new NewestFolders(fetchFolders)
  #focused: Key | null = null
  /** Gets the focus once the focused entry is gone. */
  #heir: Key | null = null
  #timer: ReturnType<typeof setTimeout> | undefined
  #treeProblem: ListProblem | null = null
  #shown: ManagerView

  constructor(first: Pick<Query, 'sort' | 'order'>) {
    this.#shown = {
      query: { place: TOP, search: '', ...first },
      tree: null,
      selection: AT_START,
      version: 0,
      busy: new Set(),
      problem: null,
      revealed: null,
    }
    this.listing.subscribe(() => this.#listed())
  }

  /** A new object only after a change. */
  readonly snapshot = (): ManagerView => this.#shown

  readonly subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  start(place: Place): void {
    this.#list({ ...this.#shown.query, place })
    void this.#loadTree()
    void this.storage.look()
  }

  open(place: Place): void {
    this.#list({ ...this.#shown.query, place, search: '' })
  }

  search(part: string): void {
    this.#list({ ...this.#shown.query, search: part })
  }

  sortBy(sort: Sort, order: 'asc' | 'desc'): void {
    this.#list({ ...this.#shown.query, sort, order })
  }

  /** `shown` is called with each part of the list that comes. */
  async refresh(shown: () => void = () => {}): Promise<void> {
    clearTimeout(this.#timer)
    const [folders, files] = [this.#loadTree(), this.listing.refresh()]
    await Promise.all([folders.then(shown), files.then(shown), this.storage.refresh()])
  }

  /** Click, arrow or touch. Selects nothing while another list is opening. */
  pick(row: number, { ctrl, shift, isFocusAlone = false }: Picking): void {
    if (this.listing.isOpening()) return
    if (shift) {
      void this.#extend(row, ctrl)
      return
    }
    this.#extending.abort()
    const { selection } = this.#shown
    const entry = this.listing.at(row)
    if (isFocusAlone || entry === null) this.#select(focusOn(selection, row))
    else this.#select(ctrl ? toggle(selection, row, entry) : selectOnly(row, entry))
  }

  selectAll(): void {
    if (!this.listing.isOpening()) this.#select(selectAll(this.#shown.selection))
  }

  selectNone(): void {
    this.#select(selectNone(this.#shown.selection))
  }

  /** Includes rows that are not loaded. Rejects when one cannot be had. */
  async chosen(): Promise<readonly Entry[]> {
    const { selection } = this.#shown
    if (selection.selected.kind === 'these') return [...selection.selected.entries.values()]
    const all = await this.#everything()
    return all.filter(({ key }) => isSelected(selection, key))
  }

  async isAllChosen(): Promise<boolean> {
    const { selection, query } = this.#shown
    if (query.search !== '' || selectedCount(selection, this.#total()) !== this.#total()) return false
    if (selection.selected.kind === 'all') return true
    const all = await this.#everything()
    return all.every(({ key }) => isSelected(selection, key))
  }

  async move(entries: readonly Entry[], to: Place): Promise<void> {
    const moved = entries.filter(({ place }) => place !== to)
    if (moved.length > 0) await this.#perform(moved, moveWork(moved, to))
  }

  async remove(entries: readonly Entry[]): Promise<void> {
    await this.#perform(entries, removeWork(entries))
  }

  /** Moves the focus to the entry's new row. */
  async renamed(entry: Entry, name: string): Promise<void> {
    const { query, selection } = this.#shown
    this.#focused ??= this.listing.at(selection.focus)?.key ?? null
    void this.operations.start(renameWork(entry, name))
    await this.refresh()
    const row = this.listing.rowOf(entry.key) ?? (await this.#rowFarAway(entry.key))
    if (this.#shown.query !== query || this.#focused !== entry.key) return
    if (row === null) this.#select(withoutGone(this.#shown.selection, this.#total(), new Set([entry.key])))
    else this.#show({ selection: focusMoved(this.#shown.selection, row), revealed: { row } })
  }

  async undo(operation: number): Promise<void> {
    await this.operations.undo(operation)
    await this.#refreshInView()
  }

  async undoLast(): Promise<void> {
    await this.operations.undoLast()
    await this.#refreshInView()
  }

  #show(change: Partial<ManagerView>): void {
    this.#shown = { ...this.#shown, ...change }
    for (const changed of this.#listeners) changed()
  }

  #select(selection: Selection): void {
    this.#focused = this.listing.at(selection.focus)?.key ?? null
    this.#show({ selection })
  }

  #total(): number {
    return this.listing.total() ?? 0
  }

  #everything(): Promise<readonly Entry[]> {
    return this.listing.fetch({ first: 0, end: this.#total() }, new AbortController().signal)
  }

  async #refreshInView(): Promise<void> {
    const { focus } = this.#shown.selection
    await this.refresh()
    const { focus: row } = this.#shown.selection
    if (row !== focus) this.#show({ revealed: { row } })
  }

  /** Null also on failure. */
  async #rowFarAway(key: Key): Promise<number | null> {
    const rows = { first: 0, end: Math.min(this.#total(), SEARCHED) }
    const found = await this.listing.fetch(rows, new AbortController().signal).catch(() => [])
    const row = found.findIndex((each) => each.key === key)
    return row < 0 ? null : row
  }

  /** Keeps the focus on its entry, or moves it to a neighbour. */
  #followed(selection: Selection): Selection {
    const rowOf = (key: Key | null) => (key === null ? null : this.listing.rowOf(key))
    const row = rowOf(this.#focused) ?? rowOf(this.#heir)
    return row === null ? selection : focusMoved(selection, row)
  }

  #listed(): void {
    const { listing } = this
    const failure = listing.failure()
    const total = listing.total() ?? Number.MAX_SAFE_INTEGER
    this.#show({
      version: listing.version(),
      problem: this.#problemNow(),
      selection: withoutGone(this.#followed(this.#shown.selection), total, new Set()),
    })
    if (failure !== null) this.#refreshLater(problemOf(failure))
    else if (this.#treeProblem === null) this.#failingSince = null
  }

  /** List and tree answer in any order. */
  #problemNow(): ListProblem | null {
    const failure = this.listing.failure()
    return failure === null ? this.#treeProblem : problemOf(failure)
  }

  #refreshLater(problem: ListProblem): void {
    clearTimeout(this.#timer)
    if (problem !== 'network') return
    this.#failingSince ??= Date.now()
    const pause = Math.min(LATER, Math.max(SOON, (Date.now() - this.#failingSince) / 2))
    this.#timer = setTimeout(() => void this.refresh(), pause)
  }

  #list(query: Query): void {
    this.#extending.abort()
    this.#treeProblem = null
    this.#focused = null
    this.#show({ query, selection: AT_START, problem: null })
    const { tree } = this.#shown
    this.listing.open(query, tree === null ? null : foldersListed(query, tree))
  }

  async #loadTree(): Promise<void> {
    try {
      const folders = await this.#folders.ask()
      if (folders === null) return
      const tree = createFolderTree(folders)
      const { place } = this.#shown.query
      this.#treeProblem = place !== TOP && tree.find(place) === null ? 'missing' : null
      this.#show({ tree, problem: this.#problemNow() })
      this.listing.setFolders(foldersListed(this.#shown.query, tree))
    } catch (error) {
      this.#treeProblem = problemOf(error)
      this.#show({ problem: this.#problemNow() })
      this.#refreshLater(this.#treeProblem)
    }
  }

  async #perform(entries: readonly Entry[], work: Work<OperationDescription>): Promise<void> {
    this.#mark(entries, 1)
    const { selection } = this.#shown
    // New entries are not among those that were to be worked on.
    if (selection.selected.kind === 'all') this.#select(selectThese(selection, entries))
    const heir = nextFocus((row) => this.listing.at(row), this.#shown.selection.focus, entries)
    this.#heir = heir
    await this.operations.start(work)
    await this.refresh(() => {
      const gone = entries.filter(({ key }) => this.listing.rowOf(key) === null).map(({ key }) => key)
      this.#select(withoutGone(this.#shown.selection, this.#total(), new Set(gone)))
    })
    if (this.#heir === heir) this.#heir = null
    this.#mark(entries, -1)
  }

  #mark(entries: readonly Entry[], by: 1 | -1): void {
    this.#show({ busy: this.#busy.count(entries, by) })
  }

  async #extend(row: number, adds: boolean): Promise<void> {
    this.#extending.abort()
    this.#extending = new AbortController()
    const { signal } = this.#extending
    const { anchor } = this.#shown.selection
    this.#select({ ...this.#shown.selection, focus: row })
    const rows = { first: Math.min(anchor, row), end: Math.max(anchor, row) + 1 }
    try {
      const between = await this.listing.fetch(rows, signal)
      if (!signal.aborted) this.#select(extendTo(this.#shown.selection, row, between, adds))
    } catch (error) {
      if (!signal.aborted) this.#show({ problem: problemOf(error) })
    }
  }
}

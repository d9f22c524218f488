import type { Entry, FileEntry, FolderEntry, Key, Place } from '../entry.ts'
import type { Rows } from './rows-in-view.ts'

export type Sort = 'name' | 'size' | 'created_at' | 'downloads'

/** The entries directly in a place, or all whose name contains the search. */
export interface Query {
  readonly place: Place
  readonly search: string
  readonly sort: Sort
  readonly order: 'asc' | 'desc'
}

/** Files from `index * WINDOW` on. */
export interface ListWindow {
  readonly files: readonly FileEntry[]
  readonly total: number
  /** Later windows may reveal more. */
  readonly isAtLeast?: boolean
}

/** Files per request. */
export const WINDOW = 100

/** Rejects without a useful answer. */
export type FetchWindow = (query: Query, index: number, signal: AbortSignal) => Promise<ListWindow>

/** Concurrent requests. */
const SIDE_BY_SIDE = 4

interface Opening {
  readonly query: Query
  folders: readonly FolderEntry[] | null
  readonly request: AbortController
  /** Something changed since the request. */
  isOld: boolean
  readonly over: PromiseWithResolvers<void>
}

interface Coming {
  readonly request: AbortController
  /** Resolves when the window has come or failed, perhaps by a later request. */
  readonly over: Promise<void>
}

/** First all folders, then files in windows, fetched as they are viewed. Distant windows are dropped. */
export class Listing {
  readonly #fetchWindow: FetchWindow
  readonly #listeners = new Set<() => void>()
  #version = 0
  #query: Query | null = null
  #files: number | null = null
  #isAtLeast = false
  #folders: readonly FolderEntry[] | null = null
  #windows = new Map<number, readonly FileEntry[]>()
  #coming = new Map<number, Coming>()
  #needed: Rows = { first: 0, end: WINDOW }
  #failure: unknown = null
  #opening: Opening | null = null

  constructor(fetchWindow: FetchWindow) {
    this.#fetchWindow = fetchWindow
  }

  /** Changes with everything visible. */
  version(): number {
    return this.#version
  }

  subscribe(changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  /**
   * `folders`: null before they are known; until then there are no rows, because file rows would move, and
   * without files the list would look empty.
   */
  open(query: Query, folders: readonly FolderEntry[] | null): void {
    for (const { request } of this.#coming.values()) request.abort()
    this.#coming = new Map()
    this.#opening?.request.abort()
    this.#opening?.over.resolve()
    this.#failure = null
    const [request, over] = [new AbortController(), Promise.withResolvers<void>()]
    this.#opening = { query, folders, request, isOld: false, over }
    void this.#begin(this.#opening)
    this.#changed()
  }

  /** Leaves the files alone. */
  setFolders(folders: readonly FolderEntry[]): void {
    if (this.#opening === null) this.#folders = folders
    else this.#opening.folders = folders
    this.#changed()
  }

  /** Whether the shown rows are search results; a query being opened may differ. */
  isFound(): boolean {
    return (this.#query?.search ?? '') !== ''
  }

  total(): number | null {
    return this.#files === null || this.#folders === null ? null : this.#folders.length + this.#files
  }

  isAtLeast(): boolean {
    return this.#isAtLeast
  }

  at(row: number): Entry | null {
    const lead = this.#lead()
    const file = row - lead.length
    if (file < 0) return lead[row] ?? null
    return this.#windows.get(Math.floor(file / WINDOW))?.[file % WINDOW] ?? null
  }

  rowOf(key: Key): number | null {
    const folder = this.#lead().findIndex((each) => each.key === key)
    if (folder >= 0) return folder
    for (const [index, found] of this.#windows) {
      const at = found.findIndex((each) => each.key === key)
      if (at >= 0) return this.#lead().length + index * WINDOW + at
    }
    return null
  }

  /** Fetches these rows and drops distant ones. */
  need(rows: Rows): void {
    if (this.#opening !== null) return
    this.#needed = rows
    // Neighbours stay for scrolling back.
    const around = this.#windowsOf({ first: rows.first - 2 * WINDOW, end: rows.end + 2 * WINDOW })
    this.#forgetAllBut(around)
    for (const index of this.#windowsOf(rows)) {
      if (!this.#windows.has(index) && !this.#coming.has(index)) void this.#load(index)
    }
  }

  /** Old rows stay until then. Resolves when the change is shown, whichever request brings it. */
  async refresh(): Promise<void> {
    if (this.#opening === null) await this.#loadAgain()
    else this.#opening.isOld = true
    // A query opened meanwhile shows the change as well.
    while (this.#opening !== null) await this.#opening.over.promise
  }

  async #loadAgain(): Promise<void> {
    const wanted = this.#windowsOf(this.#needed)
    // Without files in view, the first window counts them.
    const asked = wanted.length === 0 ? [0] : wanted
    this.#forgetAllBut(asked)
    await Promise.all(asked.map((index) => this.#load(index)))
  }

  /** For rows that may not be loaded. Rejects when one cannot be had. */
  async fetch(rows: Rows, signal: AbortSignal): Promise<Entry[]> {
    const query = this.#query
    if (query === null) return []
    const folders = this.#lead()
    const lead = folders.slice(rows.first, rows.end)
    const start = Math.max(0, rows.first - folders.length)
    const end = rows.end - folders.length
    const found: FileEntry[] = []
    for (let index = Math.floor(start / WINDOW); index * WINDOW < end; index += SIDE_BY_SIDE) {
      const batch = Array.from({ length: SIDE_BY_SIDE }, (_, at) => index + at).filter(
        (at) => at * WINDOW < end,
      )
      const answers = await Promise.all(
        batch.map(
          (at) => this.#windows.get(at) ?? this.#fetchWindow(query, at, signal).then(({ files }) => files),
        ),
      )
      found.push(...answers.flat())
    }
    const skipped = start % WINDOW
    return [...lead, ...found.slice(skipped, skipped + Math.max(0, end - start))]
  }

  isOpening(): boolean {
    return this.#opening !== null
  }

  failure(): unknown {
    return this.#failure
  }

  #lead(): readonly FolderEntry[] {
    return this.#folders ?? []
  }

  #changed(): void {
    this.#version += 1
    for (const tell of this.#listeners) tell()
  }

  /** Always includes the first window, which counts the files. */
  #windowsOf({ first, end }: Rows): number[] {
    const before = this.#lead().length
    const from = Math.max(0, Math.floor((first - before) / WINDOW))
    const last = Math.max(1, this.#files ?? 1) - 1
    const to = Math.floor(Math.min(end - before - 1, last) / WINDOW)
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
  }

  async #begin(next: Opening): Promise<void> {
    try {
      const { files, total, isAtLeast = false } = await this.#fetchWindow(next.query, 0, next.request.signal)
      if (this.#opening !== next) return
      this.#adopt(next)
      this.#windows.set(0, files)
      this.#files = total
      this.#isAtLeast = isAtLeast
      this.#failure = null
    } catch (error) {
      if (this.#opening !== next) return
      this.#adopt(next)
      this.#failure = error
    }
    this.#changed()
    if (next.isOld) await this.#loadAgain()
    next.over.resolve()
  }

  #adopt({ query, folders }: Opening): void {
    this.#opening = null
    this.#query = query
    this.#folders = folders
    this.#files = null
    this.#isAtLeast = false
    this.#windows = new Map()
    this.#needed = { first: 0, end: this.#lead().length + WINDOW }
  }

  #load(index: number): Promise<void> {
    if (this.#query === null) return Promise.resolve()
    this.#coming.get(index)?.request.abort()
    const request = new AbortController()
    const over = this.#ask(this.#query, index, request)
    this.#coming.set(index, { request, over })
    return over
  }

  async #ask(query: Query, index: number, request: AbortController): Promise<void> {
    const isOvertaken = () => this.#coming.get(index)?.request !== request
    try {
      const window = await this.#fetchWindow(query, index, request.signal)
      if (isOvertaken()) return this.#coming.get(index)?.over
      this.#windows.set(index, window.files)
      this.#count(window)
      this.#failure = null
    } catch (error) {
      if (isOvertaken()) return this.#coming.get(index)?.over
      this.#failure = error
    }
    this.#coming.delete(index)
    this.#changed()
  }

  /** Earlier windows know less of the total than later ones. */
  #count({ total, isAtLeast = false }: ListWindow): void {
    if (isAtLeast && total < (this.#files ?? 0)) return
    this.#files = total
    this.#isAtLeast = isAtLeast
  }

  #forgetAllBut(wanted: readonly number[]): void {
    for (const index of this.#windows.keys()) if (!wanted.includes(index)) this.#windows.delete(index)
    for (const [index, { request }] of this.#coming) {
      if (wanted.includes(index)) continue
      this.#coming.delete(index)
      request.abort()
    }
  }
}

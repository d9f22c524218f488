import type { Entry, FileEntry, FolderEntry, Key, Place } from '../entry.ts'
import type { Rows } from './rows-in-view.ts'

export type Sort = 'name' | 'size' | 'created_at' | 'downloads'

/** What is listed: what is directly in a place, or all files and folders whose name holds what is searched for. */
export interface Query {
  readonly place: Place
  /** Empty: nothing is searched for. */
  readonly search: string
  readonly sort: Sort
  readonly order: 'asc' | 'desc'
}

/** Files number `index * WINDOW` and on. */
export interface ListWindow {
  readonly files: readonly FileEntry[]
  /** On all windows. */
  readonly total: number
  /** There may be more: windows further down tell of them. */
  readonly isAtLeast?: boolean
}

/** How many files are asked for at a time. */
export const WINDOW = 100

/** Rejects when there is no answer, or none that helps. */
export type FetchWindow = (query: Query, index: number, signal: AbortSignal) => Promise<ListWindow>

/** Windows that are asked for at once when many are. */
const SIDE_BY_SIDE = 4

interface Opening {
  readonly query: Query
  /** null before they are known. */
  folders: readonly FolderEntry[] | null
  readonly request: AbortController
  /** Something has changed since it was asked for. */
  isOld: boolean
  /** Resolves when it is shown, or something else is opened. */
  readonly over: PromiseWithResolvers<void>
}

/** A request for a window. */
interface Coming {
  readonly request: AbortController
  /** Resolves when the window is here or has failed, though by a later request. */
  readonly over: Promise<void>
}

/**
 * A list of any length, of which only what is looked at is fetched: folders first, which are all here, then files, in
 * windows. What is no longer looked at is forgotten.
 */
export class Listing {
  readonly #fetchWindow: FetchWindow
  readonly #listeners = new Set<() => void>()
  #version = 0
  /** What is shown; null before the first answer. */
  #query: Query | null = null
  /** How many there are; null before the first answer. */
  #files: number | null = null
  /** Whether there may be more. */
  #isAtLeast = false
  /** null before they are known. */
  #folders: readonly FolderEntry[] | null = null
  #windows = new Map<number, readonly FileEntry[]>()
  /** Requests under way, by the window that they ask for. */
  #coming = new Map<number, Coming>()
  #needed: Rows = { first: 0, end: WINDOW }
  #failure: unknown = null
  #opening: Opening | null = null

  constructor(fetchWindow: FetchWindow) {
    this.#fetchWindow = fetchWindow
  }

  /** Changes with everything that can be seen. */
  version(): number {
    return this.#version
  }

  /** Returns what ends it. */
  subscribe(changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  /**
   * Lists something else. What was listed is shown until the first answer. `folders`: null before they are known; until
   * then there are no rows, because those of files would move, and without files it would look empty.
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

  /** What lies before the files; nothing else changes. */
  setFolders(folders: readonly FolderEntry[]): void {
    if (this.#opening === null) this.#folders = folders
    else this.#opening.folders = folders
    this.#changed()
  }

  /** Whether the rows were searched for, which may differ from what is just being opened. */
  isFound(): boolean {
    return (this.#query?.search ?? '') !== ''
  }

  /** Rows of all; null before the first answers. */
  total(): number | null {
    return this.#files === null || this.#folders === null ? null : this.#folders.length + this.#files
  }

  /** Whether there may be more rows than `total`. */
  isAtLeast(): boolean {
    return this.#isAtLeast
  }

  /** null when it is not here, or not at all. */
  at(row: number): Entry | null {
    const lead = this.#lead()
    const file = row - lead.length
    if (file < 0) return lead[row] ?? null
    return this.#windows.get(Math.floor(file / WINDOW))?.[file % WINDOW] ?? null
  }

  /** Where an entry is, as far as it is here. */
  rowOf(key: Key): number | null {
    const folder = this.#lead().findIndex((each) => each.key === key)
    if (folder >= 0) return folder
    for (const [index, found] of this.#windows) {
      const at = found.findIndex((each) => each.key === key)
      if (at >= 0) return this.#lead().length + index * WINDOW + at
    }
    return null
  }

  /** Makes these rows come, and gives others up. */
  need(rows: Rows): void {
    if (this.#opening !== null) return
    this.#needed = rows
    // Neighbours stay, so that turning back finds them there.
    const around = this.#windowsOf({ first: rows.first - 2 * WINDOW, end: rows.end + 2 * WINDOW })
    this.#forgetAllBut(around)
    for (const index of this.#windowsOf(rows)) {
      if (!this.#windows.has(index) && !this.#coming.has(index)) void this.#load(index)
    }
  }

  /**
   * Asks again for what is looked at, because something has changed. What was shown stays until then; of what is just
   * being opened it is done when that is there. Resolves when the change is shown, whichever request brings it.
   */
  async refresh(): Promise<void> {
    if (this.#opening === null) await this.#loadAgain()
    else this.#opening.isOld = true
    // What is opened meanwhile shows the change as well.
    while (this.#opening !== null) await this.#opening.over.promise
  }

  async #loadAgain(): Promise<void> {
    const wanted = this.#windowsOf(this.#needed)
    // Without files in view the first window tells how many there are now.
    const asked = wanted.length === 0 ? [0] : wanted
    this.#forgetAllBut(asked)
    await Promise.all(asked.map((index) => this.#load(index)))
  }

  /** The entries of rows that need not be here. Rejects when one cannot be had. */
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

  /** Whether something else is asked for than what is shown. */
  isOpening(): boolean {
    return this.#opening !== null
  }

  /** What went wrong with the last request; null when nothing did. */
  failure(): unknown {
    return this.#failure
  }

  /** The rows before the files. */
  #lead(): readonly FolderEntry[] {
    return this.#folders ?? []
  }

  #changed(): void {
    this.#version += 1
    for (const tell of this.#listeners) tell()
  }

  /** The windows that rows lie in. There is always a first one, which tells how many there are. */
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

  /** A window further up knows less of how many there are than those further down. */
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

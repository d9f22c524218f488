import type { Entry, FileEntry, FolderEntry, Key, Place } from './entry.ts'
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
export interface Window {
  readonly files: readonly FileEntry[]
  /** On all windows. */
  readonly total: number
  /** There may be more: windows further down tell of them. */
  readonly isAtLeast?: boolean
}

/** How many files are asked for at a time. */
export const WINDOW = 100

/** Rejects when there is no answer, or none that helps. */
export type FetchWindow = (query: Query, index: number, signal: AbortSignal) => Promise<Window>

/**
 * A list of any length, of which only what is looked at is fetched: folders first, which are all here, then files, in
 * windows. What is no longer looked at is forgotten.
 */
export interface Listing {
  /** Changes with everything that can be seen. */
  version(): number
  /** Returns what ends it. */
  subscribe(changed: () => void): () => void
  /** Lists something else. What was listed is shown until the first answer. */
  open(query: Query, folders: readonly FolderEntry[]): void
  /** What lies before the files; nothing else changes. */
  setFolders(folders: readonly FolderEntry[]): void
  /** Rows of all; null before the first answer. */
  total(): number | null
  /** null when it is not here, or not at all. */
  at(row: number): Entry | null
  /** Where an entry is, as far as it is here. */
  rowOf(key: Key): number | null
  /** Makes these rows come, and gives others up. */
  need(rows: Rows): void
  /**
   * Asks again for what is looked at, because something has changed. What was shown stays until then; of what is just
   * being opened it is done when that is there.
   */
  refresh(): Promise<void>
  /** The entries of rows that need not be here. Rejects when one cannot be had. */
  fetch(rows: Rows, signal: AbortSignal): Promise<Entry[]>
  /** Whether something else is asked for than what is shown. */
  isOpening(): boolean
  /** What went wrong with the last request; null when nothing did. */
  failure(): unknown
}

interface Opening {
  readonly query: Query
  folders: readonly FolderEntry[]
  readonly request: AbortController
  /** Something has changed since it was asked for. */
  isOld: boolean
}

export function createListing(fetchWindow: FetchWindow): Listing {
  const listeners = new Set<() => void>()
  let version = 0
  let query: Query | null = null
  let folders: readonly FolderEntry[] = []
  let files: number | null = null
  let windows = new Map<number, readonly FileEntry[]>()
  let coming = new Map<number, AbortController>()
  let needed: Rows = { first: 0, end: WINDOW }
  let failure: unknown = null
  let opening: Opening | null = null

  function changed(): void {
    version += 1
    for (const tell of listeners) tell()
  }

  /** The windows that rows lie in. There is always a first one, which tells how many there are. */
  function windowsOf({ first, end }: Rows): number[] {
    const from = Math.max(0, Math.floor((first - folders.length) / WINDOW))
    const last = Math.max(1, files ?? 1) - 1
    const to = Math.floor(Math.min(end - folders.length - 1, last) / WINDOW)
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
  }

  async function begin(next: Opening): Promise<void> {
    try {
      const { files: found, total } = await fetchWindow(next.query, 0, next.request.signal)
      if (opening !== next) return
      adopt(next)
      windows.set(0, found)
      files = total
      failure = null
    } catch (error) {
      if (opening !== next) return
      adopt(next)
      failure = error
    }
    changed()
    if (next.isOld) await refresh()
  }

  function adopt(next: Opening): void {
    opening = null
    query = next.query
    folders = next.folders
    files = null
    windows = new Map()
    needed = { first: 0, end: folders.length + WINDOW }
  }

  async function load(index: number): Promise<void> {
    if (query === null) return
    coming.get(index)?.abort()
    const request = new AbortController()
    coming.set(index, request)
    try {
      const { files: found, total, isAtLeast } = await fetchWindow(query, index, request.signal)
      if (coming.get(index) !== request) return
      windows.set(index, found)
      files = isAtLeast === true ? Math.max(files ?? 0, total) : total
      failure = null
    } catch (error) {
      if (coming.get(index) !== request) return
      failure = error
    }
    coming.delete(index)
    changed()
  }

  function forgetAllBut(wanted: readonly number[]): void {
    for (const index of windows.keys()) if (!wanted.includes(index)) windows.delete(index)
    for (const [index, request] of coming) {
      if (wanted.includes(index)) continue
      coming.delete(index)
      request.abort()
    }
  }

  async function refresh(): Promise<void> {
    if (opening !== null) {
      opening.isOld = true
      return
    }
    const wanted = windowsOf(needed)
    // Without files in view the first window tells how many there are now.
    const asked = wanted.length === 0 ? [0] : wanted
    forgetAllBut(asked)
    await Promise.all(asked.map(load))
  }

  return {
    version: () => version,
    subscribe(tell) {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },

    open(next, its) {
      for (const request of coming.values()) request.abort()
      coming = new Map()
      opening?.request.abort()
      failure = null
      opening = { query: next, folders: its, request: new AbortController(), isOld: false }
      void begin(opening)
      changed()
    },

    setFolders(next) {
      if (opening === null) folders = next
      else opening.folders = next
      changed()
    },

    total: () => (files === null ? null : folders.length + files),

    at(row) {
      const file = row - folders.length
      if (file < 0) return folders[row] ?? null
      return windows.get(Math.floor(file / WINDOW))?.[file % WINDOW] ?? null
    },

    rowOf(key) {
      const folder = folders.findIndex((each) => each.key === key)
      if (folder >= 0) return folder
      for (const [index, found] of windows) {
        const at = found.findIndex((each) => each.key === key)
        if (at >= 0) return folders.length + index * WINDOW + at
      }
      return null
    },

    need(rows) {
      if (opening !== null) return
      needed = rows
      // Neighbours stay, so that turning back finds them there.
      const around = windowsOf({ first: rows.first - 2 * WINDOW, end: rows.end + 2 * WINDOW })
      forgetAllBut(around)
      for (const index of windowsOf(rows)) {
        if (!windows.has(index) && !coming.has(index)) void load(index)
      }
    },

    refresh,

    async fetch(rows, signal) {
      if (query === null) return []
      const asked = query
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
            (at) => windows.get(at) ?? fetchWindow(asked, at, signal).then(({ files: some }) => some),
          ),
        )
        found.push(...answers.flat())
      }
      const skipped = start % WINDOW
      return [...lead, ...found.slice(skipped, skipped + Math.max(0, end - start))]
    },

    isOpening: () => opening !== null,
    failure: () => failure,
  }
}

/** Windows that are asked for at once when many are. */
const SIDE_BY_SIDE = 4

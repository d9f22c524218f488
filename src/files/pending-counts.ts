import { SECOND } from '../domain/clock.ts'
import type { AccountId, FileId, KeyId } from '../domain/ids.ts'
import type { FileUse } from './use-counters.rows.ts'

/** Files per transaction: SQLite blocks other writers meanwhile. */
export const BATCH_FILES = 250

/** Shared, because most files of a page have no pending counts. */
const UNUSED = { views: 0, downloads: 0 } as const

export interface CountBatch {
  readonly files: Map<FileId, FileUse>
  readonly archive: ArchiveUse | undefined
  readonly days: Map<string, Map<AccountId, number>>
  readonly keys: Map<KeyId, number>
}

export interface EqualUse {
  readonly ids: FileId[]
  use: FileUse
}

/** At most `BATCH_FILES` files of one archive. */
interface ArchiveUse extends EqualUse {
  /** A batch has taken the files: do not add more. */
  isTaken: boolean
}

export class PendingCounts {
  readonly #files = new Map<FileId, FileUse>()
  readonly #archives: ArchiveUse[] = []
  #days = new Map<string, Map<AccountId, number>>()
  #keys = new Map<KeyId, number>()

  addFileUse(file: FileId, by: 'view' | 'download' | null, more: 1 | -1, at: number): void {
    const use = this.#files.get(file) ?? { views: 0, downloads: 0, lastUsedAt: at }
    if (by === 'view') use.views += more
    if (by === 'download') use.downloads += more
    use.lastUsedAt = Math.max(use.lastUsedAt, at)
    this.#files.set(file, use)
  }

  archive(downloads: 0 | 1): (file: FileId, at: number) => void {
    let last: ArchiveUse | null = null
    return (file, at) => {
      if (last === null || last.isTaken || last.ids.length === BATCH_FILES) {
        last = { ids: [], use: { views: 0, downloads, lastUsedAt: 0 }, isTaken: false }
        this.#archives.push(last)
      }
      last.ids.push(file)
      last.use.lastUsedAt = at
    }
  }

  addRequest(day: string, account: AccountId): void {
    const counts = this.#days.get(day) ?? new Map<AccountId, number>()
    counts.set(account, (counts.get(account) ?? 0) + 1)
    this.#days.set(day, counts)
  }

  setKeyUsed(key: KeyId, at: number): void {
    this.#keys.set(key, at)
  }

  /** Excludes uses in archives. */
  ofFile(file: FileId): { readonly views: number; readonly downloads: number } {
    return this.#files.get(file) ?? UNUSED
  }

  requests(day: string, account: AccountId): number {
    return this.#days.get(day)?.get(account) ?? 0
  }

  batches(): number {
    if (this.#files.size + this.#archives.length + this.#days.size + this.#keys.size === 0) return 0
    return Math.max(1, this.#archives.length + Math.ceil(this.#files.size / BATCH_FILES))
  }

  /** At most `BATCH_FILES` files: of an archive, or the first others. */
  take(): CountBatch {
    const archive = this.#archives.shift()
    if (archive !== undefined) archive.isTaken = true
    const some = archive === undefined ? this.#files.entries().take(BATCH_FILES) : []
    const batch = { files: new Map(some), archive, days: this.#days, keys: this.#keys }
    for (const file of batch.files.keys()) this.#files.delete(file)
    this.#days = new Map()
    this.#keys = new Map()
    return batch
  }

  putBack(batch: CountBatch): void {
    for (const [file, use] of batch.files) this.#files.set(file, merge(this.#files.get(file), use))
    if (batch.archive !== undefined) this.#archives.unshift(batch.archive)
    for (const [day, counts] of batch.days) {
      for (const [account, requests] of this.#days.get(day) ?? []) {
        counts.set(account, (counts.get(account) ?? 0) + requests)
      }
      this.#days.set(day, counts)
    }
    for (const [key, at] of batch.keys) this.#keys.set(key, this.#keys.get(key) ?? at)
  }
}

function merge(later: FileUse | undefined, use: FileUse): FileUse {
  return {
    views: use.views + (later?.views ?? 0),
    downloads: use.downloads + (later?.downloads ?? 0),
    lastUsedAt: Math.max(use.lastUsedAt, later?.lastUsedAt ?? 0),
  }
}

/** Groups files used equally often, within one second. */
export function equalUses(files: ReadonlyMap<FileId, FileUse>): Iterable<EqualUse> {
  const groups = new Map<string, EqualUse>()
  for (const [id, use] of byId(files)) {
    const key = `${use.views} ${use.downloads} ${Math.floor(use.lastUsedAt / SECOND)}`
    const group = groups.get(key) ?? { ids: [], use }
    group.ids.push(id)
    if (use.lastUsedAt > group.use.lastUsedAt) group.use = use
    groups.set(key, group)
  }
  return groups.values()
}

export function byId<Id extends number, Value>(rows: ReadonlyMap<Id, Value>): [Id, Value][] {
  return [...rows].sort(([a], [b]) => a - b)
}

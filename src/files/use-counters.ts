import { sql } from 'kysely'
import type { AccountCaller } from '../core/callers.ts'
import type { Database, Trx } from '../database/database.ts'
import { greatest } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY, SECOND, yieldToEventLoop } from '../domain/clock.ts'
import { isoDay } from '../domain/days.ts'
import type { AccountId, FileId, FolderId, KeyId } from '../domain/ids.ts'
import { noteTransferUse, noteUseInTransfers } from './transfers.rows.ts'

export interface DayOfRequests {
  /** In UTC, such as `2026-01-31`. */
  readonly day: string
  readonly requests: number
}

/** Written once a second, in batches. A kill loses a second of counting, never a file. */
export class Usage {
  readonly #db: Database
  readonly #clock: Clock
  readonly #downloaded: (count: 1 | -1) => void
  readonly #unwritten = new PendingCounts()
  /** Today's text, formatted once a day because every request needs it. */
  #today = { number: Number.NaN, day: '' }
  /** The batch being written; never rejects. */
  #writing = Promise.resolve()
  #taken = 0

  /** `downloaded` is also called for every undone download. */
  constructor(db: Database, clock: Clock, downloaded: (count: 1 | -1) => void = () => {}) {
    this.#db = db
    this.#clock = clock
    this.#downloaded = downloaded
  }

  /** Null keeps the file alive without counting. Call the result to undo the count after a failure. */
  fileUsed(file: FileId, by: 'view' | 'download' | null, at = this.#clock.now()): () => void {
    const count = (more: 1 | -1) => {
      this.#unwritten.addFileUse(file, by, more, at)
      if (by === 'download') this.#downloaded(more)
    }
    count(1)
    return () => count(-1)
  }

  /** A look at a transfer, by the id of its folder, keeps all that is in it. */
  transferUsed(transfer: FolderId): void {
    this.#unwritten.setTransferUsed(transfer, this.#clock.now())
  }

  /** Each file takes a number in memory instead of a record, since there may be very many; `pending` omits them. */
  archiveUsed(by: 'download' | null): (file: FileId) => void {
    const add = this.#unwritten.archive(by === 'download' ? 1 : 0)
    return (file) => {
      add(file, this.#clock.now())
      if (by === 'download') this.#downloaded(1)
    }
  }

  requested(caller: AccountCaller): void {
    this.#unwritten.addRequest(this.#presentDay(), caller.account)
    this.used(caller)
  }

  /** A session's use is recorded where the session is read. */
  used({ by }: AccountCaller): void {
    if (by.kind === 'key') this.#unwritten.setKeyUsed(by.key, this.#clock.now())
  }

  /** Not written yet. */
  pending(file: FileId): { readonly views: number; readonly downloads: number } {
    return this.#unwritten.ofFile(file)
  }

  /** Since 00:00 UTC. */
  async requestsToday(account: AccountId): Promise<number> {
    const day = this.#presentDay()
    const written = await this.#betweenBatches(() => requestsOn(this.#db, account, day))
    return written + this.#unwritten.requests(day, account)
  }

  /** Includes today. */
  async requestsByDay(account: AccountId, count: number): Promise<DayOfRequests[]> {
    const first = count - 1
    const days = Array.from({ length: count }, (_, index) => this.#dayBefore(first - index))
    const since = this.#dayBefore(first)
    const rows = await this.#betweenBatches(() => requestsSince(this.#db, account, since))
    const written = new Map(rows.map(({ day, requests }) => [day, requests]))
    return days.map((day) => ({
      day,
      requests: (written.get(day) ?? 0) + this.#unwritten.requests(day, account),
    }))
  }

  /** Keeps counts that could not be written. */
  async flush(): Promise<void> {
    // Fixed here, so that later counts wait for the next flush.
    for (let left = this.#unwritten.batches(); left > 0; left--) {
      const batch = this.#writeBatch()
      this.#writing = batch.catch(() => {})
      await batch
      await yieldToEventLoop()
    }
  }

  /** On PostgreSQL a reader would find an open transaction's counts neither in memory nor in the database. */
  async #betweenBatches<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      await this.#writing
      const taken = this.#taken
      const found = await read()
      if (taken === this.#taken) return found
    }
  }

  async #writeBatch(): Promise<void> {
    let batch: CountBatch | null = null
    try {
      await inTransaction(this.#db, async (trx) => {
        // Inside the transaction, so that on SQLite a reader finds each count either in memory or in the database.
        if (batch === null) {
          batch = this.#unwritten.take()
          this.#taken += 1
        }
        await write(trx, batch)
      })
    } catch (error) {
      if (batch !== null) this.#unwritten.putBack(batch)
      throw error
    }
  }

  #presentDay(): string {
    const now = this.#clock.now()
    const number = Math.floor(now / DAY)
    if (number !== this.#today.number) this.#today = { number, day: isoDay(now, 'UTC') }
    return this.#today.day
  }

  #dayBefore(days: number): string {
    return isoDay(this.#clock.now() - days * DAY, 'UTC')
  }
}

/** In key order wherever possible, so that nodes rarely wait for each other's locks. */
async function write(trx: Trx, { files, archive, days, keys, transfers }: CountBatch): Promise<void> {
  for (const { ids, use } of equalUses(files)) await addFileUse(trx, ids, use)
  if (archive !== undefined) {
    archive.ids.sort((a, b) => a - b)
    await addFileUse(trx, archive.ids, archive.use)
  }
  for (const [day, counts] of [...days].sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const [account, requests] of byId(counts)) await addRequests(trx, account, day, requests)
  }
  for (const [key, at] of byId(keys)) await setKeyUsed(trx, key, at)
  for (const [transfer, at] of byId(transfers)) await noteTransferUse(trx, [transfer], at)
}

/** Files per transaction: SQLite blocks other writers meanwhile. */
const BATCH_FILES = 250

/** Shared, because most files of a page have no pending counts. */
const UNUSED = { views: 0, downloads: 0 } as const

interface CountBatch {
  readonly files: Map<FileId, FileUse>
  readonly archive: ArchiveUse | undefined
  readonly days: Map<string, Map<AccountId, number>>
  readonly keys: Map<KeyId, number>
  readonly transfers: Map<FolderId, number>
}

interface EqualUse {
  readonly ids: FileId[]
  use: FileUse
}

/** At most `BATCH_FILES` files of one archive. */
interface ArchiveUse extends EqualUse {
  /** A batch has taken the files: do not add more. */
  isTaken: boolean
}

class PendingCounts {
  readonly #files = new Map<FileId, FileUse>()
  readonly #archives: ArchiveUse[] = []
  #days = new Map<string, Map<AccountId, number>>()
  #keys = new Map<KeyId, number>()
  #transfers = new Map<FolderId, number>()

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

  setTransferUsed(transfer: FolderId, at: number): void {
    this.#transfers.set(transfer, at)
  }

  /** Excludes uses in archives. */
  ofFile(file: FileId): { readonly views: number; readonly downloads: number } {
    return this.#files.get(file) ?? UNUSED
  }

  requests(day: string, account: AccountId): number {
    return this.#days.get(day)?.get(account) ?? 0
  }

  batches(): number {
    const others = this.#days.size + this.#keys.size + this.#transfers.size
    if (this.#files.size + this.#archives.length + others === 0) return 0
    return Math.max(1, this.#archives.length + Math.ceil(this.#files.size / BATCH_FILES))
  }

  /** At most `BATCH_FILES` files: of an archive, or the first others. */
  take(): CountBatch {
    const archive = this.#archives.shift()
    if (archive !== undefined) archive.isTaken = true
    const some = archive === undefined ? this.#files.entries().take(BATCH_FILES) : []
    const [days, keys, transfers] = [this.#days, this.#keys, this.#transfers]
    const batch = { files: new Map(some), archive, days, keys, transfers }
    for (const file of batch.files.keys()) this.#files.delete(file)
    this.#days = new Map()
    this.#keys = new Map()
    this.#transfers = new Map()
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
    for (const [transfer, at] of batch.transfers) {
      this.#transfers.set(transfer, this.#transfers.get(transfer) ?? at)
    }
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
function equalUses(files: ReadonlyMap<FileId, FileUse>): Iterable<EqualUse> {
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

function byId<Id extends number, Value>(rows: ReadonlyMap<Id, Value>): [Id, Value][] {
  return [...rows].sort(([a], [b]) => a - b)
}

interface FileUse {
  views: number
  downloads: number
  lastUsedAt: number
}

export async function addFileUse(trx: Trx, files: readonly FileId[], use: FileUse): Promise<void> {
  await trx
    .updateTable('files')
    .set((row) => ({
      views: row('views', '+', use.views),
      downloads: row('downloads', '+', use.downloads),
      last_used_at: greatest(trx, 'last_used_at', use.lastUsedAt),
    }))
    .where('id', 'in', files)
    .execute()
  await noteUseInTransfers(trx, files, use.lastUsedAt)
}

export async function addRequests(
  trx: Trx,
  account: AccountId,
  day: string,
  requests: number,
): Promise<void> {
  await trx
    .insertInto('request_days')
    .values({ account_id: account, day, requests })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'day'])
        .doUpdateSet({ requests: sql<number>`request_days.requests + excluded.requests` }),
    )
    .execute()
}

/** Omits days without requests. */
function requestsSince(
  db: Database,
  account: AccountId,
  day: string,
): Promise<{ readonly day: string; readonly requests: number }[]> {
  return db
    .selectFrom('request_days')
    .select(['day', 'requests'])
    .where('account_id', '=', account)
    .where('day', '>=', day)
    .execute()
}

async function requestsOn(db: Database, account: AccountId, day: string): Promise<number> {
  const row = await db
    .selectFrom('request_days')
    .select('requests')
    .where('account_id', '=', account)
    .where('day', '=', day)
    .executeTakeFirst()
  return row?.requests ?? 0
}

async function setKeyUsed(trx: Trx, key: KeyId, at: number): Promise<void> {
  await trx
    .updateTable('api_keys')
    .set({ last_used_at: at })
    .where('id', '=', key)
    // Another node may have recorded a later use.
    .where((row) => row.or([row('last_used_at', 'is', null), row('last_used_at', '<', at)]))
    .execute()
}

import type { AccountCaller } from '../core/callers.ts'
import { yieldToEventLoop } from '../core/yielding.ts'
import type { Database, Trx } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import { isoDay } from '../domain/days.ts'
import type { AccountId, FileId } from '../domain/ids.ts'
import { byId, type CountBatch, equalUses, PendingCounts } from './pending-counts.ts'
import { addFileUse, addRequests, requestsOn, requestsSince, setKeyUsed } from './use-counters.rows.ts'

/**
 * Counts that change with every request: gathered in memory and written once a second, in batches.
 * A process that is killed loses a second of counting, never a file.
 */
export interface Usage {
  /**
   * Counts a view or a download that begins; null keeps the file alive without counting. The returned function takes the
   * count back, for a view or download that failed.
   */
  fileUsed(file: FileId, by: 'view' | 'download' | null): () => void
  /**
   * Returns a function that counts one file of an archive. An archive may hold very many files, so each takes a number in
   * memory instead of a record, and `pending` leaves these counts out.
   */
  archiveUsed(by: 'download' | null): (file: FileId) => void
  /** Counts a request, and records the use of the caller's key. */
  requested(caller: AccountCaller): void
  /** Records the use of the caller's key alone, for what does not count as a request. */
  used(caller: AccountCaller): void
  /** Counts of the file that are not written yet. */
  pending(file: FileId): { readonly views: number; readonly downloads: number }
  /** Requests of the account since 00:00 UTC. */
  requestsToday(account: AccountId): Promise<number>
  /** Requests of the account on each of the last `days` days, today included. */
  requestsByDay(account: AccountId, days: number): Promise<DayOfRequests[]>
  /** Writes the counts of now. Counts that could not be written are kept for the next time. */
  flush(): Promise<void>
}

export interface DayOfRequests {
  /** In UTC, such as `2026-01-31`. */
  readonly day: string
  readonly requests: number
}

/** `downloaded`: called for every download that counts, and for every one that is taken back. */
export function createUsage(
  db: Database,
  clock: Clock,
  downloaded: (count: 1 | -1) => void = () => {},
): Usage {
  return new UseCounters(db, clock, downloaded)
}

class UseCounters implements Usage {
  readonly #db: Database
  readonly #clock: Clock
  readonly #downloaded: (count: 1 | -1) => void
  readonly #unwritten = new PendingCounts()
  /** The text of the present day, made once a day because every request needs it. */
  #today = { number: Number.NaN, day: '' }
  /** The batch that is being written; never rejects. */
  #writing = Promise.resolve()
  /** How many batches were taken from memory. */
  #taken = 0

  constructor(db: Database, clock: Clock, downloaded: (count: 1 | -1) => void) {
    this.#db = db
    this.#clock = clock
    this.#downloaded = downloaded
  }

  fileUsed(file: FileId, by: 'view' | 'download' | null): () => void {
    const at = this.#clock.now()
    const count = (more: 1 | -1) => {
      this.#unwritten.addFileUse(file, by, more, at)
      if (by === 'download') this.#downloaded(more)
    }
    count(1)
    return () => count(-1)
  }

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

  /** The use of a session is recorded where the session is read. */
  used({ by }: AccountCaller): void {
    if (by.kind === 'key') this.#unwritten.setKeyUsed(by.key, this.#clock.now())
  }

  pending(file: FileId): { readonly views: number; readonly downloads: number } {
    return this.#unwritten.ofFile(file)
  }

  async requestsToday(account: AccountId): Promise<number> {
    const day = this.#presentDay()
    const written = await this.#betweenBatches(() => requestsOn(this.#db, account, day))
    return written + this.#unwritten.requests(day, account)
  }

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

  async flush(): Promise<void> {
    // The number is fixed here, so that counts that come meanwhile wait for the next flush.
    for (let left = this.#unwritten.batches(); left > 0; left--) {
      const batch = this.#writeBatch()
      this.#writing = batch.catch(() => {})
      await batch
      await yieldToEventLoop()
    }
  }

  /**
   * Reads counts of requests from the database, none of which is in memory or taken from there at the time. On PostgreSQL a
   * reader would otherwise find those of an open transaction in neither.
   */
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
        // Taken inside the transaction, so that a reader of a file on SQLite finds each count either in memory or in the database.
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

/** Updates rows in the order of their keys wherever possible, so that nodes rarely wait for each other's locks. */
async function write(trx: Trx, { files, archive, days, keys }: CountBatch): Promise<void> {
  for (const { ids, use } of equalUses(files)) await addFileUse(trx, ids, use)
  if (archive !== undefined) {
    archive.ids.sort((a, b) => a - b)
    await addFileUse(trx, archive.ids, archive.use)
  }
  for (const [day, counts] of [...days].sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const [account, requests] of byId(counts)) await addRequests(trx, account, day, requests)
  }
  for (const [key, at] of byId(keys)) await setKeyUsed(trx, key, at)
}

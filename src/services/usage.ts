import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import {
  addFileUse,
  addRequests,
  type FileUse,
  requestsOn,
  requestsSince,
  setKeyUsed,
} from '../database/usage.ts'
import { type Clock, DAY, SECOND } from '../domain/clock.ts'
import type { AccountId, FileId, KeyId } from '../domain/ids.ts'
import type { AccountCaller } from './caller.ts'
import { dayOf } from './traffic.ts'
import { letOthersIn } from './turns.ts'

/**
 * What changes with every request: gathered in memory and written once a second, very many files in steps.
 * A process that is killed loses a second of counting, never a file.
 */
export interface Usage {
  /**
   * Somebody looked at the file or began to download it; `by` null keeps it alive without being counted. The function
   * that comes back takes the count back, of what then failed.
   */
  fileUsed(file: FileId, by: 'view' | 'download' | null): () => void
  /**
   * The same for the files of one archive, to be called once for each: there may be very many, so that they take a
   * number instead of a record, and `pending` does not tell them.
   */
  archiveUsed(by: 'download' | null): (file: FileId) => void
  requested(caller: AccountCaller): void
  /** The same for what counts as no request. */
  used(caller: AccountCaller): void
  /** Counted and not yet written. */
  pending(file: FileId): { readonly views: number; readonly downloads: number }
  /** The account's requests since 00:00 UTC. */
  requestsToday(account: AccountId): Promise<number>
  /** The same for each of so many days, the last of which is today. Days are as in `2026-01-31`, in UTC. */
  requestsByDay(account: AccountId, days: number): Promise<DayOfRequests[]>
  flush(): Promise<void>
}

export interface DayOfRequests {
  readonly day: string
  readonly requests: number
}

/** `downloaded`: told of every download that counts, and of every one that is taken back. */
export function createUsage(db: Db, clock: Clock, downloaded: (count: 1 | -1) => void = () => {}): Usage {
  const files = new Map<FileId, FileUse>()
  /** Each of at most `MOST_FILES` files of one archive. */
  const archived: ArchiveUse[] = []
  let days = new Map<string, Map<AccountId, number>>()
  let keys = new Map<KeyId, number>()
  /** What could not be written is counted together with what has come since. */
  function takeBack(taken: Gathered): void {
    for (const [file, use] of taken.files) files.set(file, merge(files.get(file), use))
    if (taken.archived !== undefined) archived.unshift(taken.archived)
    for (const [day, counts] of taken.days) {
      for (const [account, n] of days.get(day) ?? []) counts.set(account, (counts.get(account) ?? 0) + n)
      days.set(day, counts)
    }
    for (const [key, at] of taken.keys) keys.set(key, keys.get(key) ?? at)
  }

  /** Everything but files, of which `MOST_FILES` at most are taken: those of an archive, or the first others. */
  function take(): Gathered {
    const together = archived.shift()
    if (together !== undefined) together.isTaken = true
    const some = together === undefined ? files.entries().take(MOST_FILES) : []
    const taken = { files: new Map(some), archived: together, days, keys }
    for (const file of taken.files.keys()) files.delete(file)
    days = new Map()
    keys = new Map()
    return taken
  }

  async function flushSome(): Promise<void> {
    let taken: Gathered | null = null
    try {
      await inTransaction(db, async (trx) => {
        // Taken inside the transaction, so that no reader of SQLite finds a count in neither place or in both.
        taken ??= take()
        await write(trx, taken)
      })
    } catch (error) {
      if (taken !== null) takeBack(taken)
      throw error
    }
  }

  function count(file: FileId, by: 'view' | 'download' | null, more: 1 | -1, at: number): void {
    const use = files.get(file) ?? { views: 0, downloads: 0, lastUsedAt: at }
    if (by === 'view') use.views += more
    if (by === 'download') {
      use.downloads += more
      downloaded(more)
    }
    use.lastUsedAt = Math.max(use.lastUsedAt, at)
    files.set(file, use)
  }

  /** Of a session it is noted where it is read. */
  function used({ by }: AccountCaller): void {
    if (by.kind === 'key') keys.set(by.key, clock.now())
  }

  const dayBefore = (ago: number) => dayOf(clock.now() - ago * DAY)
  /** Written out when it begins: every request asks for it. */
  let present = { number: Number.NaN, day: '' }
  function today(): string {
    const now = clock.now()
    const number = Math.floor(now / DAY)
    if (number !== present.number) present = { number, day: dayOf(now) }
    return present.day
  }

  return {
    fileUsed(file, by) {
      const at = clock.now()
      count(file, by, 1, at)
      return () => count(file, by, -1, at)
    },

    archiveUsed(by) {
      const downloads = by === 'download' ? 1 : 0
      let last: ArchiveUse | null = null
      return (file) => {
        if (last === null || last.isTaken || last.ids.length === MOST_FILES) {
          last = { ids: [], use: { views: 0, downloads, lastUsedAt: 0 }, isTaken: false }
          archived.push(last)
        }
        last.ids.push(file)
        if (by === 'download') downloaded(1)
        last.use.lastUsedAt = clock.now()
      }
    },

    requested(caller) {
      const day = today()
      const counts = days.get(day) ?? new Map<AccountId, number>()
      counts.set(caller.account, (counts.get(caller.account) ?? 0) + 1)
      days.set(day, counts)
      used(caller)
    },

    used,

    pending: (file) => files.get(file) ?? { views: 0, downloads: 0 },

    async requestsToday(account) {
      const day = today()
      const written = await requestsOn(db, account, day)
      return written + (days.get(day)?.get(account) ?? 0)
    },

    async requestsByDay(account, count) {
      const asked = Array.from({ length: count }, (_, index) => dayBefore(count - 1 - index))
      const rows = await requestsSince(db, account, dayBefore(count - 1))
      const written = new Map(rows.map(({ day, requests }) => [day, requests]))
      return asked.map((day) => ({
        day,
        requests: (written.get(day) ?? 0) + (days.get(day)?.get(account) ?? 0),
      }))
    },

    async flush() {
      if (files.size + archived.length + days.size + keys.size === 0) return
      // What comes meanwhile waits for the next time.
      const rounds = archived.length + Math.ceil(files.size / MOST_FILES)
      for (let left = Math.max(1, rounds); left > 0; left--) {
        await flushSome()
        await letOthersIn()
      }
    },
  }
}

/** Files of one transaction: SQLite keeps everybody waiting while it writes them. */
const MOST_FILES = 250

/** Rows in the order of their keys as far as that goes, so that nodes hardly ever wait for each other. */
async function write(trx: Db, { files, archived, days, keys }: Gathered): Promise<void> {
  for (const { ids, use } of usedAlike(files)) await addFileUse(trx, ids, use)
  if (archived !== undefined) {
    archived.ids.sort((a, b) => a - b)
    await addFileUse(trx, archived.ids, archived.use)
  }
  for (const [day, counts] of [...days].sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const [account, requests] of inOrder(counts)) await addRequests(trx, account, day, requests)
  }
  for (const [key, at] of inOrder(keys)) await setKeyUsed(trx, key, at)
}

interface UsedAlike {
  readonly ids: FileId[]
  use: FileUse
}

interface ArchiveUse extends UsedAlike {
  /** It is being written, or has been: what comes later belongs into another. */
  isTaken: boolean
}

/** Files that were used as often within the same second take one statement. */
function usedAlike(files: ReadonlyMap<FileId, FileUse>): Iterable<UsedAlike> {
  const groups = new Map<string, UsedAlike>()
  for (const [id, use] of inOrder(files)) {
    const alike = `${use.views} ${use.downloads} ${Math.floor(use.lastUsedAt / SECOND)}`
    const group = groups.get(alike) ?? { ids: [], use }
    group.ids.push(id)
    if (use.lastUsedAt > group.use.lastUsedAt) group.use = use
    groups.set(alike, group)
  }
  return groups.values()
}

function inOrder<Id extends number, Value>(rows: ReadonlyMap<Id, Value>): [Id, Value][] {
  return [...rows].sort(([a], [b]) => a - b)
}

interface Gathered {
  readonly files: Map<FileId, FileUse>
  readonly archived: ArchiveUse | undefined
  readonly days: Map<string, Map<AccountId, number>>
  readonly keys: Map<KeyId, number>
}

function merge(later: FileUse | undefined, use: FileUse): FileUse {
  return {
    views: use.views + (later?.views ?? 0),
    downloads: use.downloads + (later?.downloads ?? 0),
    lastUsedAt: Math.max(use.lastUsedAt, later?.lastUsedAt ?? 0),
  }
}

import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { addFileUse, addRequests, type FileUse, requestsOn, setKeyUsed } from '../database/usage.ts'
import { type Clock, timestamp } from '../domain/clock.ts'
import type { AccountId, FileId, KeyId } from '../domain/ids.ts'
import type { AccountCaller } from './caller.ts'

/**
 * What changes with every request: gathered in memory and written once a second in one transaction.
 * A process that is killed loses a second of counting, never a file.
 */
export interface Usage {
  /** Somebody looked at the file or began to download it; `by` null keeps it alive without being counted. */
  fileUsed(file: FileId, by: 'view' | 'download' | null): void
  requested(caller: AccountCaller): void
  /** Counted and not yet written. */
  pending(file: FileId): { readonly views: number; readonly downloads: number }
  /** The account's requests since 00:00 UTC. */
  requestsToday(account: AccountId): Promise<number>
  flush(): Promise<void>
}

export function createUsage(db: Db, clock: Clock): Usage {
  let files = new Map<FileId, FileUse>()
  let days = new Map<string, Map<AccountId, number>>()
  let keys = new Map<KeyId, number>()
  /** What could not be written is counted together with what has come since. */
  function takeBack(taken: Gathered): void {
    for (const [file, use] of taken.files) files.set(file, merge(files.get(file), use))
    for (const [day, counts] of taken.days) {
      for (const [account, n] of days.get(day) ?? []) counts.set(account, (counts.get(account) ?? 0) + n)
      days.set(day, counts)
    }
    for (const [key, at] of taken.keys) keys.set(key, keys.get(key) ?? at)
  }

  function take(): Gathered {
    const taken = { files, days, keys }
    files = new Map()
    days = new Map()
    keys = new Map()
    return taken
  }

  const today = () => timestamp(clock.now()).slice(0, 10)

  return {
    fileUsed(file, by) {
      const use = files.get(file) ?? { views: 0, downloads: 0, lastUsedAt: 0 }
      if (by === 'view') use.views++
      if (by === 'download') use.downloads++
      use.lastUsedAt = clock.now()
      files.set(file, use)
    },

    requested(caller) {
      const day = today()
      const counts = days.get(day) ?? new Map<AccountId, number>()
      counts.set(caller.account, (counts.get(caller.account) ?? 0) + 1)
      days.set(day, counts)
      keys.set(caller.key, clock.now())
    },

    pending: (file) => files.get(file) ?? { views: 0, downloads: 0 },

    async requestsToday(account) {
      const day = today()
      const written = await requestsOn(db, account, day)
      return written + (days.get(day)?.get(account) ?? 0)
    },

    async flush() {
      if (files.size + days.size + keys.size === 0) return
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
    },
  }
}

/** Rows in the order of their keys, so that no two nodes wait for each other. */
async function write(trx: Db, { files, days, keys }: Gathered): Promise<void> {
  for (const [file, use] of inOrder(files)) await addFileUse(trx, file, use)
  for (const [day, counts] of [...days].sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const [account, requests] of inOrder(counts)) await addRequests(trx, account, day, requests)
  }
  for (const [key, at] of inOrder(keys)) await setKeyUsed(trx, key, at)
}

function inOrder<Id extends number, Value>(rows: ReadonlyMap<Id, Value>): [Id, Value][] {
  return [...rows].sort(([a], [b]) => a - b)
}

interface Gathered {
  readonly files: Map<FileId, FileUse>
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

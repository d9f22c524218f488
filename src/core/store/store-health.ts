import { sql } from 'kysely'
import {
  BlobRefused,
  type BlobStore,
  isLost,
  StoreFailure,
  type StoreFailureReason,
} from '../../blobs/blob-store.ts'
import type { Database } from '../../database/database.ts'
import { type Clock, SECOND } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { BlobId } from '../../domain/ids.ts'
import type { RemovalGuard } from './generations.ts'
import { readStoreMark } from './pairing.ts'

/** After a failed sync the store cannot be trusted: uploads wait for a probe (write, sync, read, remove). */
export interface StoreHealth {
  /** Throws Refusal STORAGE_UNAVAILABLE after such a failure. */
  assertUsable(): void
  /** Errors that are not the store's are returned unchanged. */
  refusalFor(error: unknown): unknown
  probe(): Promise<boolean>
  /** Probes only a store marked as broken. */
  recover(): Promise<void>
}

const RETRY_AFTER = 30

export function createStoreHealth(blobs: BlobStore, report: (error: unknown) => void): StoreHealth {
  let broken = false
  let failures = 0

  function fail(): void {
    broken = true
    failures++
  }

  const health: StoreHealth = {
    assertUsable() {
      if (broken) throw unavailable('broken')
    },

    refusalFor(error) {
      if (error instanceof BlobRefused) {
        report(error)
        return unavailable('refused', error)
      }
      if (!(error instanceof StoreFailure)) return error
      report(error)
      if (error.reason === 'broken') fail()
      return unavailable(error.reason, error)
    },

    async probe() {
      const before = failures
      try {
        await blobs.probe()
        // A failure during the probe stays in force.
        if (failures === before) broken = false
        return !broken
      } catch (error) {
        report(error)
        // A full, unreachable or refusing store gave no false answer: the next upload tries again.
        if (!(error instanceof StoreFailure) || error.reason === 'broken') fail()
        return false
      }
    },

    async recover() {
      if (broken) await health.probe()
    },
  }
  return health
}

export type StorageProblem = StoreFailureReason | 'guests'

const OUT_OF_REACH =
  'The server cannot use its storage at the moment, whatever the file; what was stored is kept, try again later'

const messages = {
  full: 'The storage of this server is full; try again later, or ask whoever runs it to make room',
  guests:
    'The space for uploads of guests is used up; use an account or an API key, or try again when there is room',
  away: OUT_OF_REACH,
  broken: OUT_OF_REACH,
  refused: 'The storage refuses this server, whatever the file; ask whoever runs it to see to that',
} as const satisfies Record<StorageProblem, string>

export function unavailable(problem: StorageProblem, cause?: unknown): Refusal {
  const reason = problem === 'broken' ? 'away' : problem
  return new Refusal('STORAGE_UNAVAILABLE', messages[problem], RETRY_AFTER, { cause, reason })
}

/** How long one check of the mark counts. */
const FRESH_FOR = SECOND

export interface StoreGuard {
  /** From pairing. */
  readonly mark: string
  readonly removing: RemovalGuard
  readonly clock: Pick<Clock, 'monotonic'>
}

/**
 * Bytes count as missing only while the store shows its mark, since an unmounted disk has lost nothing. Otherwise
 * throws StoreFailure: `away` for reads and removals; `broken` for probes, since writes to another disk would be lost.
 * Removals also throw StoreFailure while they are not allowed.
 */
export function guardStore(blobs: BlobStore, { mark, removing, clock }: StoreGuard): BlobStore {
  let seenAt = Number.NEGATIVE_INFINITY

  async function assertPresent(reason: 'away' | 'broken' = 'away'): Promise<void> {
    const now = clock.monotonic()
    if (now - seenAt < FRESH_FOR) return
    const present = await readStoreMark(blobs)
    if (present?.mark !== mark) {
      throw new StoreFailure(reason, {
        cause: new Error('the store does not show the mark of this database'),
      })
    }
    seenAt = now
  }

  /** Bytes may be missing because the store went away after the last check. */
  async function assertPresentNow(reason: 'away' | 'broken' = 'away'): Promise<void> {
    seenAt = Number.NEGATIVE_INFINITY
    await assertPresent(reason)
  }

  async function assertRemovable(): Promise<void> {
    await assertPresent()
    if (await removing.isAllowed()) return
    throw new StoreFailure('refused', {
      cause: new Error('the database is older than what the store has seen, so no bytes are removed'),
    })
  }

  async function looking<T>(look: () => Promise<T>): Promise<T> {
    try {
      return await look()
    } catch (error) {
      if (isLost(error)) await assertPresentNow()
      throw error
    }
  }

  async function orNone<T>(look: () => Promise<T | null>): Promise<T | null> {
    const found = await look()
    if (found === null) await assertPresentNow()
    return found
  }

  return {
    dropsUnfinished: blobs.dropsUnfinished,
    readsGrowing: blobs.readsGrowing,
    create: (key, length) => blobs.create(key, length),
    put: (key, bytes, sha256) => blobs.put(key, bytes, sha256),
    resume: (key, kept, length) => looking(() => blobs.resume(key, kept, length)),
    read: (key, start, end, size) => looking(() => blobs.read(key, start, end, size)),
    openGrowing: (key) => looking(() => blobs.openGrowing(key)),
    size: (key) => orNone(() => blobs.size(key)),
    list: () => blobs.list(),
    freeSpace: () => blobs.freeSpace(),
    readMark: (copy) => blobs.readMark(copy),
    writeMark: (text, copy) => blobs.writeMark(text, copy),
    link: (key, options) => blobs.link(key, options),
    async probe() {
      await assertPresentNow('broken')
      await blobs.probe()
    },
    async remove(key) {
      await assertRemovable()
      await blobs.remove(key)
    },
    async endForgotten(before, isUnderWay) {
      await assertRemovable()
      await blobs.endForgotten(before, isUnderWay)
    },
    async removeAll(keys, failed) {
      try {
        await assertRemovable()
      } catch (error) {
        failed(error)
        return []
      }
      return blobs.removeAll(keys, failed)
    },
  }
}

type DatabaseState = 'ok' | 'down' | 'damaged'

export interface Readiness {
  /**
   * A few seconds old at most. `damaged`: it answers, but a page of its file cannot be read. At most one check a
   * second, never concurrent: frequent calls can neither wear out the disk nor exhaust the connections.
   */
  check(): Promise<{ readonly database: DatabaseState; readonly store: boolean }>
}

/** Shorter than the database timeout, so that a hang is reported early. */
const ANSWERS_WITHIN = 5 * SECOND

export function createReadiness(db: Database, health: StoreHealth, clock: Clock): Readiness {
  let last: { readonly at: number; isOpen: boolean; readonly result: ReturnType<Readiness['check']> } | null =
    null

  function databaseState(isAnswering: boolean): DatabaseState {
    if (!isAnswering) return 'down'
    return db.damage?.isPresent === true ? 'damaged' : 'ok'
  }

  async function answers(): Promise<boolean> {
    const silence = Promise.withResolvers<boolean>()
    const cancel = clock.timers.after(ANSWERS_WITHIN, () => silence.resolve(false))
    const answer = sql`select 1`.execute(db).then(
      () => true,
      () => false,
    )
    try {
      return await Promise.race([answer, silence.promise])
    } finally {
      cancel()
    }
  }

  return {
    check() {
      const now = clock.monotonic()
      if (last !== null && (last.isOpen || now - last.at < FRESH_FOR)) return last.result
      const result = Promise.all([answers(), health.probe()]).then(([database, store]) => ({
        database: databaseState(database),
        store,
      }))
      const asked = { at: now, isOpen: true, result }
      const close = () => {
        asked.isOpen = false
      }
      result.then(close, close)
      last = asked
      return result
    },
  }
}

export interface SecondCopies {
  /** Schedules the repair of damaged or missing bytes; false without a usable second copy. Never throws. */
  repair(content: BlobId): Promise<boolean>
}

export const noSecondCopies: SecondCopies = {
  repair: async () => false,
}

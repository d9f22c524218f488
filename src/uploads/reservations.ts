import type { BlobStore } from '../blobs/blob-store.ts'
import { findAccount } from '../core/accounts.rows.ts'
import { ownerOf, reachOf, type Sender } from '../core/callers.ts'
import type { Nodes } from '../core/nodes/nodes.ts'
import type { RateLimits } from '../core/rate-limits/rate-limits.ts'
import type { Database } from '../database/database.ts'
import { isPostgres } from '../database/dialect.ts'
import type { Clock } from '../domain/clock.ts'
import { type AccountId, type BlobKey, type FolderId, type FolderPlace, GUESTS } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import { BlobKeyPool } from './content/blob-key-pool.ts'
import { FailedReservations } from './failed-reservations.ts'
import { FreeSpace } from './free-space.ts'
import { guestBudget } from './guest-budget.ts'
import { RequestReservation, type RequestReservationParts } from './request-reservation.ts'
import { GUEST_STEP } from './reservation.ts'
import { limitOf, type StorageLimits, storageFull } from './storage-limits.ts'

export interface ReservationLimits extends StorageLimits {
  readonly guestHourlySize: number
  readonly minFreeSpace: number
}

/** Reserves of the account, of the disk, and of a guest's hourly budget, before bytes come. */
export class Reservations {
  readonly #parts: RequestReservationParts
  readonly #limits: ReservationLimits
  readonly #keys: BlobKeyPool | null

  constructor(parts: {
    db: Database
    blobs: BlobStore
    databaseSpace: () => Promise<number | null>
    rates: RateLimits
    nodes: Nodes
    clock: Clock
    limits: ReservationLimits
    random: Random
    report: (error: unknown) => void
  }) {
    const { db, blobs, clock, limits } = parts
    const space = new FreeSpace({ ...parts, minFreeSpace: limits.minFreeSpace })
    const recordingIn = blobs.dropsUnfinished ? db.nonDurable : db
    this.#parts = { ...parts, recordingIn, space, failed: new FailedReservations(db, clock) }
    this.#limits = limits
    this.#keys = !isPostgres(db) && blobs.dropsUnfinished ? new BlobKeyPool(parts) : null
  }

  endFailed(): Promise<void> {
    return this.#parts.failed.endAll()
  }

  /**
   * The work reserves its account's bytes by itself, and must report written bytes, which show in the disk's free
   * space. Throws Refusal STORAGE_UNAVAILABLE.
   */
  async withFreeSpace<T>(
    account: AccountId,
    bytes: number,
    work: (wrote: (bytes: number) => void) => Promise<T>,
  ): Promise<T> {
    const promise = this.#parts.space.reserve(account)
    try {
      await promise.add(bytes)
      return await work((written) => promise.wrote(Math.min(promise.left, written)))
    } finally {
      promise.end()
    }
  }

  /** Refuses what does not fit now, and for a guest also what a later step would refuse. Reserves nothing. */
  async check(caller: Sender, bytes: number): Promise<void> {
    const { db, space, rates } = this.#parts
    const account = ownerOf(caller)
    await space.assertFree(account, bytes)
    await guestBudget(caller, rates, this.#limits.guestHourlySize).check(bytes)
    const row = await findAccount(db, account)
    if (row === undefined) return
    const limit = row.quota ?? limitOf(account, this.#limits)
    // Other uploads count as far as `reserve` needs the bytes at once.
    const first = account === GUESTS ? Math.min(bytes, GUEST_STEP) : bytes
    const isFull = first > 0 && row.storage_used + row.storage_reserved + first > limit
    if (isFull || row.storage_used + bytes > limit) throw await storageFull(db, account, this.#limits)
  }

  /** A guest gets at most one step. Throws Refusal STORAGE_LIMIT_EXCEEDED, STORAGE_UNAVAILABLE or RATE_LIMITED. */
  reserve(caller: Sender, key: BlobKey, least: number, wanted: number): Promise<RequestReservation> {
    return RequestReservation.open(this.#parts, caller, key, { least, wanted })
  }

  /**
   * Without a row; null where one is needed: with a shared database, with a store that keeps unfinished blobs, and for
   * a contributor, whose place is that row.
   */
  async reserveSmall(caller: Sender, least: number, wanted: number): Promise<RequestReservation | null> {
    if (this.#keys === null || caller.kind === 'contributor') return null
    return RequestReservation.openPooled(this.#parts, caller, this.#keys, { least, wanted })
  }

  /** One statement. Null where impossible or refused; then nothing is reserved, and `check` throws. */
  async reserveInPlace(
    caller: Sender,
    key: BlobKey,
    bytes: number,
    place: FolderPlace,
  ): Promise<{ readonly reservation: RequestReservation; readonly folder: FolderId } | null> {
    // Their folder is checked with all ancestors.
    const isKept = reachOf(caller).within !== null
    if (this.#parts.db.pipeline === null || isKept) return null
    return RequestReservation.openInPlace(this.#parts, caller, key, bytes, place)
  }
}

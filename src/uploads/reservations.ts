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

/** Reserves storage before bytes come: of the account, of the disk, and of what a guest may send in an hour. */
export class Reservations {
  readonly #parts: RequestReservationParts
  readonly #limits: ReservationLimits
  readonly #keys: BlobKeyPool | null

  /** `databaseSpace`: see `FreeSpace`. */
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

  /** Ends the reservations of failed uploads that the database could not end then. */
  endFailed(): Promise<void> {
    return this.#parts.failed.endAll()
  }

  /**
   * Runs work for the account that reserves so many bytes by itself, while nobody else is promised the same space of the
   * disk. The work tells of bytes that it has written, for the disk itself tells of those. Throws Refusal
   * STORAGE_UNAVAILABLE when the disk has not that much.
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

  /**
   * Refuses, as `reserve` would, what does not fit now, and of a guest also what would be refused at a later step.
   * Reserves nothing.
   */
  async check(caller: Sender, bytes: number): Promise<void> {
    const { db, space, rates } = this.#parts
    const account = ownerOf(caller)
    await space.assertFree(account, bytes)
    await guestBudget(caller, rates, this.#limits.guestHourlySize).check(bytes)
    const row = await findAccount(db, account)
    if (row === undefined) return
    const limit = row.quota ?? limitOf(account, this.#limits)
    // What others have under way counts as far as `reserve` needs it at once.
    const first = account === GUESTS ? Math.min(bytes, GUEST_STEP) : bytes
    const isFull = first > 0 && row.storage_used + row.storage_reserved + first > limit
    if (isFull || row.storage_used + bytes > limit) throw await storageFull(db, account, this.#limits)
  }

  /**
   * Reserves at least `least` bytes, `wanted` if there are that many; for a guest no more than a step, however much that
   * is. Throws Refusal STORAGE_LIMIT_EXCEEDED, STORAGE_UNAVAILABLE or RATE_LIMITED.
   */
  reserve(caller: Sender, key: BlobKey, least: number, wanted: number): Promise<RequestReservation> {
    return RequestReservation.open(this.#parts, caller, key, { least, wanted })
  }

  /**
   * The same for a small upload, under a key that it draws. Null where each upload needs a row: where other processes share the
   * database, where the store keeps what was not completed, and for a contributor, whose place is held by that row.
   */
  async reserveSmall(caller: Sender, least: number, wanted: number): Promise<RequestReservation | null> {
    if (this.#keys === null || caller.kind === 'contributor') return null
    return RequestReservation.openPooled(this.#parts, caller, this.#keys, { least, wanted })
  }

  /**
   * Reserves so many bytes and finds the folder at the place in one round trip, where statements are one. Null where that
   * cannot be, or where something is refused; then nothing is reserved, and `check` tells what it is.
   */
  async reserveInPlace(
    caller: Sender,
    key: BlobKey,
    bytes: number,
    place: FolderPlace,
  ): Promise<{ readonly reservation: RequestReservation; readonly folder: FolderId } | null> {
    // A folder that the caller is kept to is looked up with all that lie above the place.
    const isKept = reachOf(caller).within !== null
    if (this.#parts.db.pipeline === null || isKept) return null
    return RequestReservation.openInPlace(this.#parts, caller, key, bytes, place)
  }
}

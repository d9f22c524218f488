import type { BlobStore } from '../blobs/blob-store.ts'
import { findAccount } from '../core/accounts.rows.ts'
import { ownerOf, reachOf, type Sender } from '../core/callers.ts'
import type { Nodes } from '../core/nodes/nodes.ts'
import type { RateLimits } from '../core/rate-limits/rate-limits.ts'
import {
  endReservation,
  growReservation,
  openInPlace,
  type ReservationRow,
} from '../core/reservations.rows.ts'
import { type Database, isPostgres, type Trx } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import {
  type AccountId,
  type BlobKey,
  type FolderId,
  type FolderPlace,
  GUESTS,
  type NodeId,
} from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import { folderNotFound } from '../files/folders/places.ts'
import { FreeSpace, type SpaceReservation } from './free-space.ts'
import { type GuestBudget, guestBudget } from './guest-admission.ts'
import { BlobKeyPool } from './incoming-content.ts'
import { uploadInterrupted } from './refusals.ts'
import {
  assertFits,
  FailedReservations,
  GUEST_STEP,
  limitOf,
  openInAccount,
  Reservation,
  reserveInAccount,
  type StorageLimits,
  storageFull,
} from './reservation.ts'

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

interface RequestReservationParts {
  readonly db: Database
  readonly recordingIn: Database
  readonly space: FreeSpace
  readonly failed: FailedReservations
  readonly rates: RateLimits
  readonly nodes: Nodes
  readonly clock: Clock
  readonly limits: StorageLimits & { readonly guestHourlySize: number }
  readonly report: (error: unknown) => void
}

/** Owned by this node; ends with the request. */
export class RequestReservation {
  readonly #parts: RequestReservationParts
  readonly key: BlobKey
  readonly #account: AccountId
  readonly #node: NodeId
  readonly #budget: GuestBudget
  readonly #space: SpaceReservation
  readonly #reservation: Reservation
  #place: { readonly at: FolderPlace; folder: FolderId | null } | null = null
  /** A pooled key is found after a kill without a row. */
  #pool: BlobKeyPool | null = null
  #isOpen = false
  #hasRow = false

  private constructor(parts: RequestReservationParts, caller: Sender, key: BlobKey, wanted: number) {
    this.#parts = parts
    this.key = key
    this.#account = ownerOf(caller)
    this.#node = parts.nodes.id()
    this.#budget = guestBudget(caller, parts.rates, parts.limits.guestHourlySize)
    this.#space = parts.space.reserve(this.#account)
    this.#reservation = new Reservation({
      account: this.#account,
      bytes: 0,
      // The declared size may be too little where another part follows the file.
      most: wanted > 0 ? wanted : Number.POSITIVE_INFINITY,
      reserve: (bytes) => this.#reserve(bytes),
    })
  }

  static async open(
    parts: RequestReservationParts,
    caller: Sender,
    key: BlobKey,
    { least, wanted }: { readonly least: number; readonly wanted: number },
  ): Promise<RequestReservation> {
    const reservation = new RequestReservation(parts, caller, key, wanted)
    const most = Math.max(least, wanted)
    const isGuests = ownerOf(caller) === GUESTS
    const first = isGuests ? Math.min(most, GUEST_STEP) : most
    try {
      await reservation.#reservation.add(isGuests ? first : least, first)
      return reservation
    } catch (error) {
      reservation.#space.end()
      throw error
    }
  }

  /** Reserves without a row. Checks the account now, and finally when the file is stored. */
  static async openPooled(
    parts: RequestReservationParts,
    caller: Sender,
    keys: BlobKeyPool,
    { least, wanted }: { readonly least: number; readonly wanted: number },
  ): Promise<RequestReservation> {
    const key = await keys.take()
    const reservation = new RequestReservation(parts, caller, key, wanted)
    reservation.#pool = keys
    try {
      await reservation.#reservation.add(least, wanted)
      return reservation
    } catch (error) {
      reservation.#space.end()
      keys.end(key)
      throw error
    }
  }

  /** One statement: PostgreSQL only. Null where refused; then nothing is reserved. */
  static async openInPlace(
    parts: RequestReservationParts,
    caller: Sender,
    key: BlobKey,
    bytes: number,
    at: FolderPlace,
  ): Promise<{ readonly reservation: RequestReservation; readonly folder: FolderId } | null> {
    const reservation = new RequestReservation(parts, caller, key, bytes)
    const place = { at, folder: null }
    reservation.#place = place
    try {
      await reservation.#reservation.add(bytes, bytes)
      return place.folder === null ? null : { reservation, folder: place.folder }
    } catch (error) {
      await reservation.release()
      // Releasing a missing row does not do these.
      await reservation.#budget.settle(0)
      reservation.#space.end()
      if (error instanceof Refusal) return null
      throw error
    }
  }

  /** Call before writing. Throws Refusal as `Reservations.reserve` does, and when this node was taken for dead. */
  async cover(bytes: number): Promise<void> {
    if (this.#parts.nodes.id() !== this.#node) throw uploadInterrupted()
    await this.#reservation.cover(bytes)
  }

  /** Returns once the row would survive a power cut; only it knows of the bytes of a completed blob. */
  async recorded(): Promise<void> {
    if (this.#pool === null) await this.#parts.db.durable()
  }

  wrote(bytes: number): void {
    this.#space.wrote(bytes)
  }

  /**
   * Call in the transaction that stores the file. Throws Refusal STORAGE_UNAVAILABLE when another node has ended the
   * reservation, and as `reserve` does where the account had none.
   */
  async use(trx: Trx): Promise<void> {
    const { limits } = this.#parts
    if (this.#hasRow && !(await endReservation(trx, this.key))) throw uploadInterrupted()
    // The file is counted in its account by now.
    if (this.#pool !== null) await assertFits(trx, this.#account, 0, limits)
  }

  /** Returns a guest's unused budget once all bytes are here. Never throws. */
  async settle(bytes: number): Promise<void> {
    await this.#budget.settle(bytes)
  }

  /** Call when that transaction has committed. */
  used(): void {
    this.#close()
    this.#pool?.end(this.key)
  }

  /** Leaves bytes without a row as garbage, now or by `FailedReservations.endAll`. Harmless after `used`. */
  async release(): Promise<void> {
    if (!this.#isOpen) return
    const { failed, report } = this.#parts
    this.#close()
    failed.add(this.key, this.#account)
    await this.#budget.settle(0)
    try {
      await failed.end(this.key, this.#account)
      this.#pool?.end(this.key)
    } catch (error) {
      report(error)
    }
  }

  #close(): void {
    this.#isOpen = false
    this.#space.end()
  }

  async #reserve(bytes: number): Promise<void> {
    await this.#space.add(bytes)
    try {
      if (this.#place === null || this.#isOpen) await this.#budget.spend(bytes, () => this.#record(bytes))
      else await this.#spendAndRecord(bytes)
    } catch (error) {
      this.#space.withdraw(bytes)
      throw error
    }
    this.#isOpen = true
  }

  /** Concurrently: a reservation takes no space from others, so it need not wait for the guest's limit. */
  async #spendAndRecord(bytes: number): Promise<void> {
    const [spent, recorded] = await Promise.allSettled([
      this.#budget.spend(bytes, async () => {}),
      this.#record(bytes),
    ])
    this.#isOpen = recorded.status === 'fulfilled'
    for (const end of [spent, recorded]) if (end.status === 'rejected') throw end.reason
  }

  async #record(bytes: number): Promise<void> {
    const { recordingIn, clock, limits, failed } = this.#parts
    const reservation = {
      key: this.key,
      account_id: this.#account,
      bytes,
      created_at: clock.now(),
      node: this.#node,
    }
    if (this.#pool !== null && !this.#isOpen) return assertFits(this.#parts.db, this.#account, bytes, limits)
    try {
      if (!this.#hasRow) return await this.#insert(reservation)
      await inTransaction(recordingIn, async (trx) => {
        await reserveInAccount(trx, this.#account, bytes, limits)
        if (!(await growReservation(trx, this.key, bytes))) throw uploadInterrupted()
      })
    } catch (error) {
      // The answer to the commit may have been lost, not the commit.
      if (!this.#hasRow && !(error instanceof Refusal)) failed.add(this.key, this.#account)
      throw error
    }
  }

  async #insert(reservation: ReservationRow): Promise<void> {
    const { recordingIn, limits } = this.#parts
    if (this.#place === null) {
      await openInAccount(recordingIn, reservation, limits)
      this.#hasRow = true
      return
    }
    const limit = limitOf(this.#account, limits)
    this.#place.folder = await openInPlace(recordingIn, reservation, limit, this.#place.at)
    if (this.#place.folder === null) throw folderNotFound()
    this.#hasRow = true
  }
}

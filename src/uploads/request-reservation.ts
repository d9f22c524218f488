import { ownerOf, type Sender } from '../core/callers.ts'
import type { Nodes } from '../core/nodes/nodes.ts'
import { openInPlace, type ReservationRow } from '../core/opened-reservations.rows.ts'
import type { RateLimits } from '../core/rate-limits/rate-limits.ts'
import { endReservation, growReservation } from '../core/reservations.rows.ts'
import type { Database, Trx } from '../database/database.ts'
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
import { folderNotFound } from '../files/folders/places.ts'
import type { BlobKeyPool } from './content/blob-key-pool.ts'
import type { FailedReservations } from './failed-reservations.ts'
import type { FreeSpace, SpaceReservation } from './free-space.ts'
import { type GuestBudget, guestBudget } from './guest-budget.ts'
import { uploadInterrupted } from './interrupted.ts'
import { GUEST_STEP, Reservation } from './reservation.ts'
import { assertFits, limitOf, openInAccount, reserveInAccount, type StorageLimits } from './storage-limits.ts'

export interface RequestReservationParts {
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

import { ownerOf, type Sender } from '../../core/callers.ts'
import type { Signing } from '../../core/hmac.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import type { Database, Trx } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Clock } from '../../domain/clock.ts'
import { type AccountId, GUESTS } from '../../domain/ids.ts'
import type { Contributions } from '../contributions.ts'
import { guestBudget } from '../guest-admission.ts'
import { uploadInterrupted } from '../refusals.ts'
import { Reservation, reserveInAccount } from '../reservation.ts'
import type { ReservationLimits, Reservations } from '../reservations.ts'
import {
  growUploadReservation,
  insertUpload,
  type NewUploadRow,
  type UploadRow,
  uploadById,
} from '../uploads.rows.ts'
import { declareSize } from './append-leases.rows.ts'
import { makeRoomForEmpty } from './empty-uploads.ts'

export interface UploadReservationParts {
  readonly db: Database
  readonly rates: RateLimits
  readonly reservations: Reservations
  readonly limits: ReservationLimits & { readonly maxFileSize: number }
  readonly signing: Signing
  readonly clock: Clock
  readonly contributions: Contributions
}

/**
 * They belong to the upload, not to a node. A guest's hourly bytes are not returned, so that starting uploads cannot
 * hold
 * all guests' storage. A contributor's also count for the link: see `Contributions.grow`.
 * Every method throws Refusal STORAGE_LIMIT_EXCEEDED, STORAGE_UNAVAILABLE or RATE_LIMITED, and then changes nothing.
 */
export class UploadReservations {
  readonly #parts: UploadReservationParts

  constructor(parts: UploadReservationParts) {
    this.#parts = parts
  }

  /**
   * Reservations of guests and contributors grow as bytes come. Throws Refusal RATE_LIMITED for too many empty uploads.
   */
  async create(
    caller: Sender,
    size: number,
    newRows: (trx: Trx) => Promise<readonly [NewUploadRow, ...NewUploadRow[]]>,
  ): Promise<UploadRow> {
    const { reservations } = this.#parts
    const account = ownerOf(caller)
    // Clients without an account could hold others' storage by asking for it.
    const isStranger = caller.kind !== 'account'
    const bytes = isStranger ? 0 : size
    if (isStranger) await reservations.check(caller, size)
    return this.#reserving(caller, account, bytes, async (trx) => {
      await makeRoomForEmpty(trx, this.#parts, caller)
      const [first, ...others] = await newRows(trx)
      await reserveInAccount(trx, account, bytes, this.#parts.limits)
      // The parts of a final upload have its reservation.
      const insert = (row: NewUploadRow) =>
        insertUpload(trx, row, isStranger || row.kind === 'final' ? 0 : (row.size ?? 0))
      const upload = await insert(first)
      for (const row of others) await insert(row)
      return upload
    })
  }

  /** Refuses what could never fit, before anything is sent. */
  check(caller: Sender, bytes: number): Promise<void> {
    return this.#parts.reservations.check(caller, bytes)
  }

  /** Grows with the bytes where not all were reserved at creation. */
  of(caller: Sender, upload: UploadRow): Reservation {
    const { account_id: account, reserved, size } = upload
    return new Reservation({
      account,
      bytes: reserved,
      most: size ?? this.#parts.limits.maxFileSize,
      reserve: (bytes) => this.#reserving(caller, account, bytes, (trx) => this.#reserve(trx, upload, bytes)),
    })
  }

  /** A guest's reservation grows by `of`. Returns the reserved bytes. */
  async declareSize(caller: Sender, upload: UploadRow, size: number): Promise<number> {
    const { id, account_id, reserved } = upload
    const left = Math.max(0, size - reserved)
    const missing = account_id === GUESTS ? 0 : left
    if (account_id === GUESTS) await this.#parts.reservations.check(caller, left)
    await this.#reserving(caller, account_id, missing, async (trx) => {
      await this.#reserve(trx, upload, missing)
      if (!(await declareSize(trx, id, size))) throw uploadInterrupted()
    })
    return reserved + missing
  }

  #reserving<T>(
    caller: Sender,
    account: AccountId,
    bytes: number,
    work: (trx: Trx) => Promise<T>,
  ): Promise<T> {
    const { db, rates, reservations, limits } = this.#parts
    const transaction = () =>
      inTransaction(db, async (trx) => {
        await lockAccount(trx, account)
        return work(trx)
      })
    const budget = guestBudget(caller, rates, limits.guestHourlySize)
    return reservations.withFreeSpace(account, bytes, () => budget.spend(bytes, transaction))
  }

  async #reserve(
    trx: Trx,
    { id, account_id, link_id }: Pick<UploadRow, 'id' | 'account_id' | 'link_id'>,
    bytes: number,
  ): Promise<void> {
    if (link_id !== null) {
      const upload = await uploadById(trx, id)
      await this.#parts.contributions.grow(trx, link_id, bytes, upload?.reserved === 0)
    }
    await reserveInAccount(trx, account_id, bytes, this.#parts.limits)
    await growUploadReservation(trx, id, bytes)
  }
}

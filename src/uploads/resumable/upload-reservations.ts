import { ownerOf, type Sender } from '../../core/callers.ts'
import type { Signing } from '../../core/hmac.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import type { Database, Trx } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Clock } from '../../domain/clock.ts'
import { type AccountId, GUESTS } from '../../domain/ids.ts'
import type { Contributions } from '../contributions.ts'
import { guestBudget } from '../guest-budget.ts'
import { uploadInterrupted } from '../interrupted.ts'
import { Reservation } from '../reservation.ts'
import type { ReservationLimits, Reservations } from '../reservations.ts'
import { reserveInAccount } from '../storage-limits.ts'
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
 * Reservations of resumable uploads. They are the upload's and not a node's: they stay until the upload ends. A guest's
 * hourly bytes are taken with them and not given back, so that nobody keeps the storage of all guests by starting uploads.
 *
 * A contributor's take place of the link with them, too: see `Contributions.grow`.
 *
 * Every method throws Refusal STORAGE_LIMIT_EXCEEDED, STORAGE_UNAVAILABLE or RATE_LIMITED, and then changes nothing.
 */
export class UploadReservations {
  readonly #parts: UploadReservationParts

  constructor(parts: UploadReservationParts) {
    this.#parts = parts
  }

  /**
   * Adds the rows that `newRows` makes, with reservations for the bytes that come to each, `size` in all; those of a guest or
   * a contributor grow as the bytes come. Returns the first row. Throws Refusal RATE_LIMITED also when too many uploads wait
   * for their first byte.
   */
  async create(
    caller: Sender,
    size: number,
    newRows: (trx: Trx) => Promise<readonly [NewUploadRow, ...NewUploadRow[]]>,
  ): Promise<UploadRow> {
    const { reservations } = this.#parts
    const account = ownerOf(caller)
    // Whoever has no account of their own could hold the storage of others by asking for it.
    const isStranger = caller.kind !== 'account'
    const bytes = isStranger ? 0 : size
    // What could never fit is refused before anything is sent.
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

  /** Refuses what could never fit before anything of it is sent. */
  check(caller: Sender, bytes: number): Promise<void> {
    return this.#parts.reservations.check(caller, bytes)
  }

  /** The reservation of the upload, which grows with its bytes where not all of them were reserved at the beginning. */
  of(caller: Sender, upload: UploadRow): Reservation {
    const { account_id: account, reserved, size } = upload
    return new Reservation({
      account,
      bytes: reserved,
      most: size ?? this.#parts.limits.maxFileSize,
      reserve: (bytes) => this.#reserving(caller, account, bytes, (trx) => this.#reserve(trx, upload, bytes)),
    })
  }

  /**
   * Records the size of an upload of which nobody knew it, and reserves all of it, or leaves that to `of` for a guest's.
   * Returns how much is reserved.
   */
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

  /** Runs a transaction that reserves so many bytes, under the account's lock. */
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

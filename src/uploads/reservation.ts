import { findAccount } from '../core/accounts.rows.ts'
import { blobExists, discardBlob } from '../core/blobs.rows.ts'
import {
  endReservation,
  fitsStorage,
  openReservation,
  type ReservationRow,
  reserveStorage,
} from '../core/reservations.rows.ts'
import { unavailable } from '../core/store/store-health.ts'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { type AccountId, type BlobKey, GUESTS } from '../domain/ids.ts'
import { formatSize } from '../domain/sizes.ts'

const FIRST_STEP = 8 * 1024 * 1024
const LARGEST_STEP = 256 * 1024 * 1024

/** Limits what a guest reserves ahead: it costs the guest nothing and blocks others. */
export const GUEST_STEP = 8 * 1024 * 1024

/** Grows in steps, ahead of the bytes, so that they never pass a limit. */
export class Reservation {
  readonly #account: AccountId
  readonly #most: number
  readonly #reserve: (bytes: number) => Promise<void>
  #bytes: number

  /** `bytes`: reserved already; `most`: limit. `reserve` throws and changes nothing, or adds bytes. */
  constructor(parts: {
    account: AccountId
    bytes: number
    most: number
    reserve: (bytes: number) => Promise<void>
  }) {
    this.#account = parts.account
    this.#most = parts.most
    this.#reserve = parts.reserve
    this.#bytes = parts.bytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Call before writing. Throws what `reserve` throws. */
  async cover(bytes: number): Promise<void> {
    const missing = bytes - this.#bytes
    if (missing > 0) await this.add(missing, Math.max(missing, this.#nextStep()))
  }

  /** Adds `wanted` bytes, or `least` if there are fewer. */
  async add(least: number, wanted: number): Promise<void> {
    try {
      await this.#add(wanted)
    } catch (error) {
      if (!(error instanceof Refusal) || least >= wanted) throw error
      await this.#add(least)
    }
  }

  async #add(bytes: number): Promise<void> {
    await this.#reserve(bytes)
    this.#bytes += bytes
  }

  #nextStep(): number {
    const step =
      this.#account === GUESTS ? GUEST_STEP : Math.min(LARGEST_STEP, Math.max(FIRST_STEP, this.#bytes))
    return Math.min(step, Math.max(0, this.#most - this.#bytes))
  }
}

export interface StorageLimits {
  /** Default, in bytes. */
  readonly storageLimit: number
  /** Bytes. */
  readonly guestStorage: number
}

/** Bytes, unless the account has a quota of its own. */
export function limitOf(account: AccountId, limits: StorageLimits): number {
  return account === GUESTS ? limits.guestStorage : limits.storageLimit
}

/** Throws Refusal STORAGE_LIMIT_EXCEEDED, of guests STORAGE_UNAVAILABLE. */
export async function reserveInAccount(
  trx: Trx,
  account: AccountId,
  bytes: number,
  limits: StorageLimits,
): Promise<void> {
  if (await reserveStorage(trx, account, bytes, limitOf(account, limits))) return
  throw await storageFull(trx, account, limits)
}

export async function openInAccount(
  db: Database,
  reservation: ReservationRow,
  limits: StorageLimits,
): Promise<void> {
  const { account_id: account } = reservation
  if (await openReservation(db, reservation, limitOf(account, limits))) return
  throw await storageFull(db, account, limits)
}

/** Throws as `reserveInAccount`. Reserves nothing. */
export async function assertFits(
  db: Queryable,
  account: AccountId,
  bytes: number,
  limits: StorageLimits,
): Promise<void> {
  if (await fitsStorage(db, account, bytes, limitOf(account, limits))) return
  throw await storageFull(db, account, limits)
}

export async function storageFull(
  db: Queryable,
  account: AccountId,
  limits: StorageLimits,
): Promise<Refusal> {
  if (account === GUESTS) return unavailable('guests')
  const row = await findAccount(db, account)
  const limit = formatSize(row?.quota ?? limits.storageLimit)
  const held = row?.storage_reserved ?? 0
  const cause = held > 0 ? `, of which uploads under way hold ${formatSize(held)}` : ''
  const remedy = held > 0 ? 'finish or cancel these, or delete something first' : 'delete something first'
  return new Refusal(
    'STORAGE_LIMIT_EXCEEDED',
    `This file does not fit into the ${limit} of this account${cause}; ${remedy}`,
  )
}

export class FailedReservations {
  readonly #db: Database
  readonly #clock: Clock
  readonly #pending = new Map<BlobKey, AccountId>()

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  add(key: BlobKey, account: AccountId): void {
    this.#pending.set(key, account)
  }

  /** Leaves bytes without a row as garbage. */
  async end(key: BlobKey, account: AccountId): Promise<void> {
    await inTransaction(this.#db, async (trx) => {
      // Waits for a transaction of unknown outcome.
      await lockAccount(trx, account)
      await endReservation(trx, key)
      // Completed bytes without a row are named nowhere else.
      if (!(await blobExists(trx, key))) await discardBlob(trx, key, this.#clock.now())
    })
    this.#pending.delete(key)
  }

  async endAll(): Promise<void> {
    for (const [key, account] of this.#pending) await this.end(key, account)
  }
}

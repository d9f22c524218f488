import { findAccount } from '../core/accounts.rows.ts'
import type { ReservationRow } from '../core/opened-reservations.rows.ts'
import { fitsStorage, openReservation, reserveStorage } from '../core/reservations.rows.ts'
import { unavailable } from '../core/store/store-health.ts'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { Refusal } from '../domain/errors.ts'
import { type AccountId, GUESTS } from '../domain/ids.ts'
import { formatSize } from '../domain/sizes.ts'

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

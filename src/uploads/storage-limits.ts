import { findAccount } from '../core/accounts.rows.ts'
import { reserveStorage } from '../core/reservations.rows.ts'
import { unavailable } from '../core/store/store-health.ts'
import type { Queryable, Trx } from '../database/database.ts'
import { Refusal } from '../domain/errors.ts'
import { type AccountId, GUESTS } from '../domain/ids.ts'
import { formatSize } from '../domain/sizes.ts'

export interface StorageLimits {
  /** Bytes of an account without a quota of its own. */
  readonly storageLimit: number
  /** Bytes of all guests together. */
  readonly guestStorage: number
}

/** Bytes that the account may have in all, unless it has a quota of its own. */
export function limitOf(account: AccountId, limits: StorageLimits): number {
  return account === GUESTS ? limits.guestStorage : limits.storageLimit
}

/** Reserves bytes of the account. Throws Refusal STORAGE_LIMIT_EXCEEDED, of guests STORAGE_UNAVAILABLE. */
export async function reserveInAccount(
  trx: Trx,
  account: AccountId,
  bytes: number,
  limits: StorageLimits,
): Promise<void> {
  if (await reserveStorage(trx, account, bytes, limitOf(account, limits))) return
  throw await storageFull(trx, account, limits)
}

/** The refusal of an upload that does not fit into the account's storage. */
export async function storageFull(
  db: Queryable,
  account: AccountId,
  limits: StorageLimits,
): Promise<Refusal> {
  if (account === GUESTS) return unavailable('guests')
  const limit = formatSize((await findAccount(db, account))?.quota ?? limits.storageLimit)
  return new Refusal(
    'STORAGE_LIMIT_EXCEEDED',
    `This file does not fit into the ${limit} of this account; delete something first`,
  )
}

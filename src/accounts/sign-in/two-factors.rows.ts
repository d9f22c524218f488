import type { Queryable, Trx } from '../../database/database.ts'
import { forUpdate } from '../../database/differences.ts'
import type { AccountId } from '../../domain/ids.ts'

export interface CodeSecrets {
  readonly secret: string
  readonly recovery_codes: string
}

export interface TwoFactorRow extends CodeSecrets {
  readonly verified: 0 | 1
}

export function lockTwoFactor(trx: Trx, account: AccountId): Promise<TwoFactorRow | undefined> {
  return trx
    .selectFrom('two_factors')
    .select(['secret', 'recovery_codes', 'verified'])
    .where('account_id', '=', account)
    .modifyEnd(forUpdate(trx))
    .executeTakeFirst()
}

/** Unverified until the first correct code. */
export async function beginTwoFactor(trx: Trx, account: AccountId, secrets: CodeSecrets): Promise<void> {
  const fresh = { ...secrets, verified: 0, last_step: null } as const
  await trx
    .insertInto('two_factors')
    .values({ account_id: account, ...fresh })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(fresh))
    .execute()
}

export async function turnOnCodes(trx: Trx, account: AccountId): Promise<void> {
  await trx.updateTable('two_factors').set({ verified: 1 }).where('account_id', '=', account).execute()
  await trx.updateTable('accounts').set({ two_factor: 1 }).where('id', '=', account).execute()
}

/** Consumes that step and earlier ones; false when they were consumed before. */
export async function takeCodeStep(trx: Trx, account: AccountId, step: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('two_factors')
    .set({ last_step: step })
    .where('account_id', '=', account)
    .where((row) => row.or([row('last_step', 'is', null), row('last_step', '<', step)]))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** False when the account has no verified codes. */
export async function setRecoveryCodes(db: Queryable, account: AccountId, codes: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('two_factors')
    .set({ recovery_codes: codes })
    .where('account_id', '=', account)
    .where('verified', '=', 1)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Includes accounts that have begun to set codes up. */
export function listCodeSecrets(trx: Trx): Promise<(CodeSecrets & { readonly account: AccountId })[]> {
  return trx
    .selectFrom('two_factors')
    .select(['account_id as account', 'secret', 'recovery_codes'])
    .orderBy('account_id')
    .execute()
}

export async function setCodeSecrets(trx: Trx, account: AccountId, secrets: CodeSecrets): Promise<void> {
  await trx.updateTable('two_factors').set(secrets).where('account_id', '=', account).execute()
}

/** Passkeys stay. */
export async function turnOffCodes(trx: Trx, account: AccountId): Promise<void> {
  await trx.deleteFrom('two_factors').where('account_id', '=', account).execute()
  await trx.updateTable('accounts').set({ two_factor: 0 }).where('id', '=', account).execute()
}

import type { AccountId } from '../domain/ids.ts'
import type { Db } from './schema.ts'

/** The encrypted secret that an authenticator app makes codes from, and the half minute of the last one that was used. */
export function findCodes(
  db: Db,
  account: AccountId,
): Promise<{ readonly secret: string; readonly last_step: number | null } | undefined> {
  return db
    .selectFrom('two_factors')
    .select(['secret', 'last_step'])
    .where('account_id', '=', account)
    .executeTakeFirst()
}

/** Uses up the codes of that half minute and of those before; false when they were used up already. */
export async function takeCodeStep(db: Db, account: AccountId, step: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('two_factors')
    .set({ last_step: step })
    .where('account_id', '=', account)
    .where((row) => row.or([row('last_step', 'is', null), row('last_step', '<', step)]))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

interface CodeSecrets {
  readonly secret: string
  readonly recovery_codes: string
}

/** What is encrypted of every account that has codes, or has begun to set them up. */
export function listCodeSecrets(trx: Db): Promise<(CodeSecrets & { readonly account: AccountId })[]> {
  return trx
    .selectFrom('two_factors')
    .select(['account_id as account', 'secret', 'recovery_codes'])
    .orderBy('account_id')
    .execute()
}

export async function setCodeSecrets(trx: Db, account: AccountId, secrets: CodeSecrets): Promise<void> {
  await trx.updateTable('two_factors').set(secrets).where('account_id', '=', account).execute()
}

/** Signing in takes no code any more; passkeys stay. */
export async function turnOffCodes(trx: Db, account: AccountId): Promise<void> {
  await trx.deleteFrom('two_factors').where('account_id', '=', account).execute()
  await trx.updateTable('accounts').set({ two_factor: 0 }).where('id', '=', account).execute()
}

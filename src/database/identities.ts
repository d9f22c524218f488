import type { AccountId } from '../domain/ids.ts'
import { forUpdate } from './differences.ts'
import type { Db } from './schema.ts'

/** The hash of the account's password, or null when it has none. */
export async function findPassword(db: Db, account: AccountId): Promise<string | null> {
  const row = await db
    .selectFrom('identities')
    .select('password_hash')
    .where('provider', '=', 'credential')
    .where('subject', '=', String(account))
    .executeTakeFirst()
  return row?.password_hash ?? null
}

/** The hash of the password of who is called that, or null when nobody is, or they have none. */
export async function findPasswordOf(
  db: Db,
  username: string,
): Promise<{ readonly account: AccountId; readonly hash: string } | null> {
  const row = await db
    .selectFrom('identities')
    .innerJoin('accounts', 'accounts.id', 'identities.account_id')
    .select(['accounts.id as account', 'identities.password_hash as hash'])
    .where('accounts.username', '=', username)
    .where('identities.provider', '=', 'credential')
    .executeTakeFirst()
  return row === undefined || row.hash === null ? null : { account: row.account, hash: row.hash }
}

/**
 * The same as `findPassword`, once nobody is about to change it. Whoever changes it and then ends sessions ends those that
 * were there when this was asked.
 */
export async function findSettledPassword(db: Db, account: AccountId): Promise<string | null> {
  const row = await db
    .selectFrom('identities')
    .select('password_hash')
    .where('provider', '=', 'credential')
    .where('subject', '=', String(account))
    .modifyEnd(forUpdate(db))
    .executeTakeFirst()
  return row?.password_hash ?? null
}

/** Sets the password, whether there was one or not. */
export async function setPassword(trx: Db, account: AccountId, hash: string, now: number): Promise<void> {
  await trx
    .insertInto('identities')
    .values({
      account_id: account,
      provider: 'credential',
      subject: String(account),
      password_hash: hash,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict.columns(['provider', 'subject']).doUpdateSet({ password_hash: hash, updated_at: now }),
    )
    .execute()
}

/** Whose account it is that another server knows by that subject. */
export async function findSubject(db: Db, subject: string): Promise<AccountId | null> {
  const row = await db
    .selectFrom('identities')
    .select('account_id')
    .where('provider', '=', 'oidc')
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row?.account_id ?? null
}

/** Whether another server knows the account. */
export async function hasSubject(db: Db, account: AccountId): Promise<boolean> {
  const row = await db
    .selectFrom('identities')
    .select('id')
    .where('account_id', '=', account)
    .where('provider', '=', 'oidc')
    .executeTakeFirst()
  return row !== undefined
}

/** Throws a unique violation when the subject has an account. */
export async function insertSubject(
  trx: Db,
  account: AccountId,
  subject: string,
  now: number,
): Promise<void> {
  await trx
    .insertInto('identities')
    .values({
      account_id: account,
      provider: 'oidc',
      subject,
      password_hash: null,
      created_at: now,
      updated_at: now,
    })
    .execute()
}

/** Forgets all that the account signs in by. */
export async function dropIdentities(trx: Db, account: AccountId): Promise<void> {
  for (const table of ['identities', 'passkeys', 'two_factors', 'one_time_links'] as const) {
    await trx.deleteFrom(table).where('account_id', '=', account).execute()
  }
}

/** Nobody signs in by a password until another one is set. */
export async function dropPassword(trx: Db, account: AccountId): Promise<void> {
  await trx
    .deleteFrom('identities')
    .where('provider', '=', 'credential')
    .where('account_id', '=', account)
    .execute()
}

/** Signing in takes the password alone. */
export async function dropSecondFactors(trx: Db, account: AccountId): Promise<void> {
  for (const table of ['passkeys', 'two_factors'] as const) {
    await trx.deleteFrom(table).where('account_id', '=', account).execute()
  }
  await trx.updateTable('accounts').set({ two_factor: 0 }).where('id', '=', account).execute()
}

import type { Database, Trx } from '../../database/database.ts'
import { forUpdate } from '../../database/differences.ts'
import { Refusal } from '../../domain/errors.ts'
import type { AccountId } from '../../domain/ids.ts'
import { gradeOf, LONGEST_PASSWORD, SHORTEST_PASSWORD, STRONG_ENOUGH } from '../../domain/password-grade.ts'

export async function findPassword(db: Database, account: AccountId): Promise<string | null> {
  const row = await db
    .selectFrom('identities')
    .select('password_hash')
    .where('provider', '=', 'credential')
    .where('subject', '=', String(account))
    .executeTakeFirst()
  return row?.password_hash ?? null
}

export async function findPasswordOf(
  db: Database,
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
 * `findPassword` with a row lock: a concurrent change of the password either commits before, or waits and
 * then also ends sessions started under this lock.
 */
export async function findSettledPassword(trx: Trx, account: AccountId): Promise<string | null> {
  const row = await trx
    .selectFrom('identities')
    .select('password_hash')
    .where('provider', '=', 'credential')
    .where('subject', '=', String(account))
    .modifyEnd(forUpdate(trx))
    .executeTakeFirst()
  return row?.password_hash ?? null
}

export async function setPassword(trx: Trx, account: AccountId, hash: string, now: number): Promise<void> {
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

export async function dropIdentities(trx: Trx, account: AccountId): Promise<void> {
  for (const table of ['identities', 'passkeys', 'two_factors', 'one_time_links'] as const) {
    await trx.deleteFrom(table).where('account_id', '=', account).execute()
  }
}

export async function dropPassword(trx: Trx, account: AccountId): Promise<void> {
  await trx
    .deleteFrom('identities')
    .where('provider', '=', 'credential')
    .where('account_id', '=', account)
    .execute()
}

/** Codes and passkeys, so that sign-in requires only the password. */
export async function dropSecondFactors(trx: Trx, account: AccountId): Promise<void> {
  for (const table of ['passkeys', 'two_factors'] as const) {
    await trx.deleteFrom(table).where('account_id', '=', account).execute()
  }
  await trx.updateTable('accounts').set({ two_factor: 0 }).where('id', '=', account).execute()
}

/** Throws Refusal WEAK_PASSWORD. `known`: facts about its owner that an attacker would try first. */
export async function assertStrong(password: string, known: readonly string[]): Promise<void> {
  if (password.length < SHORTEST_PASSWORD || password.length > LONGEST_PASSWORD) {
    throw new Refusal(
      'WEAK_PASSWORD',
      `A password has ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters`,
    )
  }
  // Lone surrogates would all be hashed as U+FFFD.
  if (!password.isWellFormed()) throw new Refusal('WEAK_PASSWORD', 'A password must be valid Unicode')
  if ((await gradeOf(password, known)) < STRONG_ENOUGH) {
    throw new Refusal(
      'WEAK_PASSWORD',
      'This password is easy to guess; add a few words to it, or use another',
    )
  }
}

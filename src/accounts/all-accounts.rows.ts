import { type SqlBool, sql } from 'kysely'
import type { AccountRow } from '../core/accounts.rows.ts'
import type { Database } from '../database/database.ts'
import { wholeSum } from '../database/differences.ts'
import type { AccountSort, AccountState } from '../domain/account.ts'
import { type AccountId, GUESTS } from '../domain/ids.ts'

export interface AccountQuery {
  /** Substring of the name, in lower case; empty for any name. */
  readonly search: string
  readonly state: AccountState
  readonly sort: AccountSort
  readonly order: 'asc' | 'desc'
  readonly offset: number
  readonly limit: number
}

function wanted(db: Database, { search, state }: Pick<AccountQuery, 'search' | 'state'>) {
  let accounts = db.selectFrom('accounts').where('id', '!=', GUESTS).where('removed_at', 'is', null)
  // PostgreSQL stores no NUL in texts, so no name contains one.
  if (search.includes('\0')) accounts = accounts.where(sql<SqlBool>`1 = 0`)
  else if (search !== '') {
    const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`
    accounts = accounts.where(sql<SqlBool>`username like ${pattern} escape '\\'`)
  }
  switch (state) {
    case 'all':
      return accounts
    case 'active':
      return accounts.where('disabled_at', 'is', null)
    case 'disabled':
      return accounts.where('disabled_at', 'is not', null)
    case 'administrators':
      return accounts.where('is_admin', '=', sql.lit(1))
  }
}

export function pageOfAccounts(db: Database, query: AccountQuery): Promise<AccountRow[]> {
  const { sort, order, offset, limit } = query
  const accounts = wanted(db, query).selectAll()
  const sorted = sort === 'username' ? accounts.orderBy('name_sort', order) : accounts
  const page = sorted.orderBy(sort, order).orderBy('id', order)
  return db.readPool.rows(page.limit(limit).offset(offset))
}

export async function countAccounts(
  db: Database,
  query: Pick<AccountQuery, 'search' | 'state'>,
): Promise<number> {
  const count = wanted(db, query).select((row) => row.fn.countAll<number>().as('count'))
  return (await db.readPool.rows(count))[0]?.count ?? 0
}

export interface AccountWays {
  readonly passwords: number
  /** Verified, so they can reset the password. */
  readonly addresses: number
  readonly passkeys: number
  readonly keys: number
  readonly sessions: number
  /** To the hour; null without a session. */
  readonly seen_at: number | null
}

export function accountWays(db: Database, account: AccountId, now: number): Promise<AccountWays> {
  const count = sql<number>`count(*)`.as('count')
  const sessions = db.selectFrom('sessions').where('account_id', '=', account).where('expires_at', '>', now)
  return db
    .selectNoFrom([
      db
        .selectFrom('identities')
        .select(count)
        .where('account_id', '=', account)
        .where('provider', '=', 'credential')
        .$asScalar()
        .$notNull()
        .as('passwords'),
      db
        .selectFrom('mail_addresses')
        .select(count)
        .where('account_id', '=', account)
        .where('address', 'is not', null)
        .$asScalar()
        .$notNull()
        .as('addresses'),
      db
        .selectFrom('passkeys')
        .select(count)
        .where('account_id', '=', account)
        .$asScalar()
        .$notNull()
        .as('passkeys'),
      db
        .selectFrom('api_keys')
        .select(count)
        .where('account_id', '=', account)
        .where('revoked_at', 'is', null)
        .where((key) => key.or([key('expires_at', 'is', null), key('expires_at', '>', now)]))
        .$asScalar()
        .$notNull()
        .as('keys'),
      sessions.select(count).$asScalar().$notNull().as('sessions'),
      sessions.select((row) => row.fn.max('updated_at').as('seen')).as('seen_at'),
    ])
    .executeTakeFirstOrThrow()
}

export interface ServerTotals {
  readonly accounts: number
  readonly files: number
  readonly storage_used: number
  readonly storage_reserved: number
  readonly storage_in_bins: number
}

/** Includes guests and accounts under removal; `accounts` does not. */
export async function serverTotals(db: Database): Promise<ServerTotals> {
  const [totals] = await db.readPool.rows(
    db
      .selectFrom('accounts')
      .select([
        wholeSum(db, 'files_count').as('files'),
        wholeSum(db, 'storage_used').as('storage_used'),
        wholeSum(db, 'storage_reserved').as('storage_reserved'),
        wholeSum(db, 'bin_bytes').as('storage_in_bins'),
      ]),
  )
  const accounts = await countAccounts(db, { search: '', state: 'all' })
  return {
    accounts,
    ...(totals ?? { files: 0, storage_used: 0, storage_reserved: 0, storage_in_bins: 0 }),
  }
}

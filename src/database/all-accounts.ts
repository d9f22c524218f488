/** Accounts as administrators see them, however many there are. */
import { type SqlBool, sql } from 'kysely'
import type { AccountSort, AccountState } from '../domain/administration.ts'
import { type AccountId, GUESTS } from '../domain/ids.ts'
import type { AccountRow } from './accounts.ts'
import { besideRequests } from './beside.ts'
import { wholeSum } from './differences.ts'
import type { Db } from './schema.ts'

export interface AccountQuery {
  /** Part of the name, in lower case; empty: any. */
  readonly search: string
  readonly state: AccountState
  readonly sort: AccountSort
  readonly order: 'asc' | 'desc'
  readonly offset: number
  readonly limit: number
}

function wanted(db: Db, { search, state }: Pick<AccountQuery, 'search' | 'state'>) {
  let accounts = db.selectFrom('accounts').where('id', '!=', GUESTS).where('removed_at', 'is', null)
  // PostgreSQL takes no NUL in a text, so no name has one.
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

export function pageOfAccounts(db: Db, query: AccountQuery): Promise<AccountRow[]> {
  const { sort, order, offset, limit } = query
  const page = wanted(db, query).selectAll().orderBy(sort, order).orderBy('id', order)
  return besideRequests(db, page.limit(limit).offset(offset))
}

export async function countAccounts(db: Db, query: Pick<AccountQuery, 'search' | 'state'>): Promise<number> {
  const count = wanted(db, query).select((row) => row.fn.countAll<number>().as('count'))
  return (await besideRequests(db, count))[0]?.count ?? 0
}

/** How somebody signs in, and what is good for the account besides. */
export interface AccountWays {
  readonly passwords: number
  /** Confirmed mail addresses, by which a new password can be had. */
  readonly addresses: number
  readonly passkeys: number
  readonly keys: number
  readonly sessions: number
  /** When one of the sessions was last used, to the hour; null: none is there. */
  readonly seen_at: number | null
}

export function accountWays(db: Db, account: AccountId, now: number): Promise<AccountWays> {
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

/** What all have together, guests and accounts that are being removed included; `accounts` are those of people. */
export async function serverTotals(db: Db): Promise<ServerTotals> {
  const [totals] = await besideRequests(
    db,
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

import { type SqlBool, sql } from 'kysely'
import {
  type AccountRow,
  findAccount,
  findAccountByName,
  setAccountDisabled,
  setAdmin,
  setInactiveDays,
  setQuota,
} from '../core/accounts.rows.ts'
import { recordAuditEntry } from '../core/audit-log.ts'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { lockAccount, wholeSum } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import type { AccountSort, AccountState } from '../domain/account.ts'
import type { Actor, AuditedAction } from '../domain/audit.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { type AccountId, GUESTS } from '../domain/ids.ts'
import { dropMailAddress, dropPendingAddress } from '../mail/mail-addresses.rows.ts'
import { type AccountInfo, accountInfo, assertNotLastAdmin, removeAccount } from './accounts.ts'
import {
  type CreateOneTimeLink,
  dropOneTimeLinks,
  makePasswordLink,
  type OneTimeLink,
} from './one-time-links.ts'
import { dropPassword, dropSecondFactors } from './sign-in/passwords.ts'
import { endSessions } from './sign-in/sessions.rows.ts'

export interface AccountChange {
  /** Bytes; null for the limit from the settings. */
  readonly quota?: number | null | undefined
  /** Days without use after which files are deleted, 0 for never. */
  readonly inactiveDays?: number | null | undefined
  readonly disabled?: boolean | undefined
  readonly isAdmin?: boolean | undefined
}

export interface ResetBesides {
  readonly secondFactor: boolean
  /** Its readers can reset the password. */
  readonly mailAddress: boolean
}

/** Each function throws Refusal NOT_FOUND for an unknown account. */
export function createAccountAdministration(db: Database, clock: Clock, makeLink: CreateOneTimeLink) {
  async function known(db: Queryable, id: AccountId): Promise<AccountInfo> {
    const row = id === GUESTS ? undefined : await findAccount(db, id)
    if (row === undefined || row.removed_at !== null) throw unknown(`number ${id}`)
    return accountInfo(row)
  }

  async function apply(trx: Trx, account: AccountInfo, change: AccountChange): Promise<AuditedAction[]> {
    const { id, username: object } = account
    const actions: AuditedAction[] = []
    const { quota, inactiveDays, disabled, isAdmin } = change
    if (quota !== undefined && quota !== account.quota) {
      await setQuota(trx, id, quota)
      actions.push({ act: 'account.quota', object, details: { quota, before: account.quota } })
    }
    if (inactiveDays !== undefined && inactiveDays !== account.inactiveDays) {
      await setInactiveDays(trx, id, inactiveDays)
      const details = { inactive_days: inactiveDays, before: account.inactiveDays }
      actions.push({ act: 'account.inactive_days', object, details })
    }
    if (disabled !== undefined && disabled !== (account.disabledAt !== null)) {
      await setAccountDisabled(trx, id, disabled ? clock.now() : null)
      actions.push({ act: disabled ? 'account.disabled' : 'account.enabled', object })
    }
    if (isAdmin !== undefined && isAdmin !== account.isAdmin) {
      await setAdmin(trx, id, isAdmin ? 1 : 0)
      actions.push({ act: isAdmin ? 'admin.made' : 'admin.unmade', object })
    }
    // Only enabled administrators may have open invitations.
    if (disabled === true || isAdmin === false) await dropOneTimeLinks(trx, 'invitation', id)
    return actions
  }

  return {
    async list(
      query: AccountQuery,
    ): Promise<{ readonly accounts: readonly AccountInfo[]; readonly total: number }> {
      const rows = await pageOfAccounts(db, query)
      return { accounts: rows.map(accountInfo), total: await countAccounts(db, query) }
    },

    async get(id: AccountId): Promise<{ readonly account: AccountInfo; readonly ways: AccountWays }> {
      return { account: await known(db, id), ways: await accountWays(db, id, clock.now()) }
    },

    async named(username: string): Promise<AccountId> {
      const row = await findAccountByName(db, username.toLowerCase())
      if (row === undefined) throw unknown(`"${username}"`)
      return row.id
    },

    /**
     * Atomic. Keys and sessions of a disabled account get 403 from then on; its public links keep working, but
     * take no uploads. Losing administration ends the account's open invitations. Throws Refusal
     * LAST_ADMINISTRATOR.
     */
    change: (actor: Actor, id: AccountId, change: AccountChange): Promise<AccountInfo> =>
      inTransaction(db, async (trx) => {
        if (change.disabled === true || change.isAdmin === false) await assertNotLastAdmin(trx, id)
        await lockAccount(trx, id)
        for (const action of await apply(trx, await known(trx, id), change)) {
          await recordAuditEntry(trx, clock, actor, action)
        }
        return known(trx, id)
      }),

    /** Ends the password, all sessions, pending mail addresses, and what `besides` names; API keys stay. */
    reset: (actor: Actor, id: AccountId, { secondFactor, mailAddress }: ResetBesides): Promise<OneTimeLink> =>
      inTransaction(db, async (trx) => {
        await lockAccount(trx, id)
        const { username } = await known(trx, id)
        // Password first and sessions last, so that a concurrent sign-in either sees the password gone or has
        // its session ended.
        await dropPassword(trx, id)
        if (secondFactor) await dropSecondFactors(trx, id)
        await endSessions(trx, id, null)
        await dropOneTimeLinks(trx, 'mail', id)
        await (mailAddress ? dropMailAddress : dropPendingAddress)(trx, id)
        const details = { second_factor: secondFactor, mail_address: mailAddress }
        await recordAuditEntry(trx, clock, actor, { act: 'account.reset', object: username, details })
        return makePasswordLink(trx, makeLink, id)
      }),

    /** As its owner would. Throws Refusal INVALID_REQUEST if the name differs, and LAST_ADMINISTRATOR. */
    remove: (actor: Actor, id: AccountId, username: string): Promise<void> =>
      inTransaction(db, async (trx) => {
        await assertNotLastAdmin(trx, id)
        await lockAccount(trx, id)
        const account = await known(trx, id)
        if (account.username !== username.toLowerCase()) {
          throw new Refusal('INVALID_REQUEST', '"username": must be the name of that account, to confirm')
        }
        await removeAccount(trx, id, clock.now())
        await recordAuditEntry(trx, clock, actor, {
          act: 'account.removed',
          object: account.username,
          details: { id, files: account.filesCount, storage_used: account.storageUsed },
        })
      }),
  }
}

export type AccountAdministration = ReturnType<typeof createAccountAdministration>

function unknown(what: string): Refusal {
  return new Refusal('NOT_FOUND', `There is no account ${what}; the list of accounts shows them all`)
}

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

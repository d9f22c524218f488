import {
  findAccount,
  findAccountByName,
  setAccountDisabled,
  setAdmin,
  setInactiveDays,
  setQuota,
} from '../core/accounts.rows.ts'
import { recordAuditEntry } from '../core/audit-log.ts'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Actor, AuditedAction } from '../domain/audit.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { type AccountId, GUESTS } from '../domain/ids.ts'
import { dropMailAddress, dropPendingAddress } from '../mail/mail-addresses.rows.ts'
import { type AccountInfo, accountInfo, assertNotLastAdmin, removeAccount } from './accounts.ts'
import {
  type AccountQuery,
  type AccountWays,
  accountWays,
  countAccounts,
  pageOfAccounts,
} from './all-accounts.rows.ts'
import { dropOneTimeLinks } from './one-time-links.rows.ts'
import { type CreateOneTimeLink, makePasswordLink, type OneTimeLink } from './one-time-links.ts'
import { dropPassword, dropSecondFactors } from './sign-in/identities.rows.ts'
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
export interface AccountAdministration {
  list(query: AccountQuery): Promise<{ readonly accounts: readonly AccountInfo[]; readonly total: number }>
  get(id: AccountId): Promise<{ readonly account: AccountInfo; readonly ways: AccountWays }>
  named(username: string): Promise<AccountId>
  /**
   * Atomic. Keys and sessions of a disabled account get 403 from then on; its public links keep working, but
   * take no uploads. Losing administration ends the account's open invitations. Throws Refusal
   * LAST_ADMINISTRATOR.
   */
  change(actor: Actor, id: AccountId, change: AccountChange): Promise<AccountInfo>
  /** Ends the password, all sessions, pending mail addresses, and what `besides` names; API keys stay. */
  reset(actor: Actor, id: AccountId, besides: ResetBesides): Promise<OneTimeLink>
  /** As its owner would. Throws Refusal INVALID_REQUEST if the name differs, and LAST_ADMINISTRATOR. */
  remove(actor: Actor, id: AccountId, username: string): Promise<void>
}

export function createAccountAdministration(
  db: Database,
  clock: Clock,
  makeLink: CreateOneTimeLink,
): AccountAdministration {
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
    async list(query) {
      const rows = await pageOfAccounts(db, query)
      return { accounts: rows.map(accountInfo), total: await countAccounts(db, query) }
    },

    async get(id) {
      return { account: await known(db, id), ways: await accountWays(db, id, clock.now()) }
    },

    async named(username) {
      const row = await findAccountByName(db, username.toLowerCase())
      if (row === undefined) throw unknown(`"${username}"`)
      return row.id
    },

    change: (actor, id, change) =>
      inTransaction(db, async (trx) => {
        if (change.disabled === true || change.isAdmin === false) await assertNotLastAdmin(trx, id)
        await lockAccount(trx, id)
        for (const action of await apply(trx, await known(trx, id), change)) {
          await recordAuditEntry(trx, clock, actor, action)
        }
        return known(trx, id)
      }),

    reset: (actor, id, { secondFactor, mailAddress }) =>
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

    remove: (actor, id, username) =>
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

function unknown(what: string): Refusal {
  return new Refusal('NOT_FOUND', `There is no account ${what}; the list of accounts shows them all`)
}

import {
  findAccount,
  findAccountByName,
  setAccountDisabled,
  setAdmin,
  setQuota,
} from '../database/accounts.ts'
import {
  type AccountQuery,
  type AccountWays,
  accountWays,
  countAccounts,
  pageOfAccounts,
} from '../database/all-accounts.ts'
import { lockAccount } from '../database/differences.ts'
import { dropPassword, dropSecondFactors } from '../database/identities.ts'
import { dropMailAddress, dropPendingAddress } from '../database/mail-addresses.ts'
import { dropLinks } from '../database/one-time-links.ts'
import type { Db } from '../database/schema.ts'
import { endSessions } from '../database/sessions.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Actor, Deed } from '../domain/audit.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { type AccountId, GUESTS } from '../domain/ids.ts'
import { assertNotLastAdmin, removeAccount } from './account-removal.ts'
import { type AccountInfo, accountInfo } from './accounts.ts'
import { noteDeed } from './audit.ts'
import { type MakeLink, makePasswordLink, type OneTimeLink } from './link-making.ts'

export interface AccountChange {
  /** Bytes; null: as much as the setting says. */
  readonly quota?: number | null | undefined
  readonly disabled?: boolean | undefined
  readonly isAdmin?: boolean | undefined
}

/** What a reset takes away besides the password. */
export interface ResetBesides {
  /** Codes and passkeys. */
  readonly secondFactor: boolean
  /** The mail address, by which anybody who reads its mails sets a new password. */
  readonly mailAddress: boolean
}

/** What administrators do with accounts. Each throws Refusal NOT_FOUND for an account that is not there. */
export interface AccountAdministration {
  list(query: AccountQuery): Promise<{ readonly accounts: readonly AccountInfo[]; readonly total: number }>
  get(id: AccountId): Promise<{ readonly account: AccountInfo; readonly ways: AccountWays }>
  /** The number of the account of that name. */
  named(username: string): Promise<AccountId>
  /**
   * All of it or nothing. The keys and sessions of a disabled account get 403 from then on; its public links keep working.
   * The invitations of who is no administrator from then on end. Throws Refusal LAST_ADMINISTRATOR.
   */
  change(actor: Actor, id: AccountId, change: AccountChange): Promise<AccountInfo>
  /**
   * Makes the link by which its owner sets a new password. The old one, every session and mail addresses that are not
   * confirmed yet end, and what is asked for besides. API keys stay.
   */
  reset(actor: Actor, id: AccountId, besides: ResetBesides): Promise<OneTimeLink>
  /** As its owner would delete it. Throws Refusal INVALID_REQUEST for another name, and LAST_ADMINISTRATOR. */
  remove(actor: Actor, id: AccountId, username: string): Promise<void>
}

export function createAccountAdministration(db: Db, clock: Clock, makeLink: MakeLink): AccountAdministration {
  async function known(trx: Db, id: AccountId): Promise<AccountInfo> {
    const row = id === GUESTS ? undefined : await findAccount(trx, id)
    if (row === undefined || row.removed_at !== null) throw unknown(`number ${id}`)
    return accountInfo(row)
  }

  async function apply(trx: Db, account: AccountInfo, change: AccountChange): Promise<Deed[]> {
    const { id, username: object } = account
    const deeds: Deed[] = []
    const { quota, disabled, isAdmin } = change
    if (quota !== undefined && quota !== account.quota) {
      await setQuota(trx, id, quota)
      deeds.push({ act: 'account.quota', object, details: { quota, before: account.quota } })
    }
    if (disabled !== undefined && disabled !== (account.disabledAt !== null)) {
      await setAccountDisabled(trx, id, disabled ? clock.now() : null)
      deeds.push({ act: disabled ? 'account.disabled' : 'account.enabled', object })
    }
    if (isAdmin !== undefined && isAdmin !== account.isAdmin) {
      await setAdmin(trx, id, isAdmin ? 1 : 0)
      deeds.push({ act: isAdmin ? 'admin.made' : 'admin.unmade', object })
    }
    // Who is no administrator any more invites nobody.
    if (disabled === true || isAdmin === false) await dropLinks(trx, 'invitation', id)
    return deeds
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
        for (const deed of await apply(trx, await known(trx, id), change)) {
          await noteDeed(trx, clock, actor, deed)
        }
        return known(trx, id)
      }),

    reset: (actor, id, { secondFactor, mailAddress }) =>
      inTransaction(db, async (trx) => {
        await lockAccount(trx, id)
        const { username } = await known(trx, id)
        // In this order, so that who is just signing in with it is noticed by one or the other.
        await dropPassword(trx, id)
        await endSessions(trx, id, null)
        if (secondFactor) await dropSecondFactors(trx, id)
        await dropLinks(trx, 'mail', id)
        await (mailAddress ? dropMailAddress : dropPendingAddress)(trx, id)
        const details = { second_factor: secondFactor, mail_address: mailAddress }
        await noteDeed(trx, clock, actor, { act: 'account.reset', object: username, details })
        return makePasswordLink(trx, makeLink, id)
      }),

    remove: (actor, id, username) =>
      inTransaction(db, async (trx) => {
        await assertNotLastAdmin(trx, id)
        await lockAccount(trx, id)
        const account = await known(trx, id)
        if (account.username !== username.toLowerCase()) {
          throw new Refusal('INVALID_REQUEST', '"username": must be the name of that account, to be sure')
        }
        await removeAccount(trx, id, clock.now())
        await noteDeed(trx, clock, actor, {
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

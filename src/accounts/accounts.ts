import {
  type AccountRow,
  accountsNearlyFull,
  dropRemovedAccounts,
  findAccount,
  findAccountByName,
  forgetNearlyFull,
  insertAccount,
  lockAdmins,
  markAccountRemoved,
  noteNearlyFull,
  setAdmin,
  topFolder,
} from '../core/accounts.rows.ts'
import { recordAuditEntry } from '../core/audit-log.ts'
import { noteEvent } from '../core/link-events.rows.ts'
import { dropWebhooksOf } from '../core/webhook-outbox.rows.ts'
import type { Database, Trx } from '../database/database.ts'
import { isUniqueViolation, lockAccount, lockMigrations } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Reach, SCOPES } from '../domain/access.ts'
import { parseUsername } from '../domain/account.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import { type Clock, yieldToEventLoop } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import { sumBin } from '../files/bin/bin.rows.ts'
import { emptyBin } from '../files/bin/bin-emptying.ts'
import { giveUpReturns } from '../files/bin/bin-restoring.ts'
import { findFolder, markFolderDeleted } from '../files/folders/folders.rows.ts'
import { dropMailAddress } from '../mail/mail-addresses.rows.ts'
import { dropMailsOf } from '../mail/outbox.ts'
import { dropKeys } from './api-keys.rows.ts'
import { issueKey } from './keys.ts'
import { dropOneTimeLinks } from './one-time-links.ts'
import { dropIdentities } from './sign-in/passwords.ts'
import { endSessions } from './sign-in/sessions.rows.ts'

export interface AccountInfo {
  readonly id: AccountId
  readonly username: string
  readonly displayName: string | null
  readonly createdAt: number
  readonly disabledAt: number | null
  /** Bytes, including the bin. */
  readonly storageUsed: number
  readonly storageInBin: number
  readonly filesCount: number
  readonly foldersCount: number
  readonly isAdmin: boolean
  readonly hasCodes: boolean
  /** Bytes; null for the limit from the settings. */
  readonly quota: number | null
  /** Days without use after which files are deleted, 0 for never; null for those from the settings. */
  readonly inactiveDays: number | null
}

const STEP = 50

export function createAccounts(db: Database, clock: Clock, random: Random) {
  return {
    /** Throws Refusal INVALID_NAME or DUPLICATE_NAME. */
    async add(name: string): Promise<{ id: AccountId; username: string; apiKey: string }> {
      const username = parseUsername(name)
      try {
        return await inTransaction(db, async (trx) => {
          const id = await insertAccount(trx, random, { username, created_at: clock.now() })
          const everything = { scopes: SCOPES, folder: null, expiresAt: null }
          const { apiKey } = await issueKey(trx, clock, random, id, { name: 'first key', ...everything })
          await recordAuditEntry(trx, clock, COMMAND_LINE, { act: 'account.added', object: username })
          return { id, username, apiKey }
        })
      } catch (error) {
        if (!isUniqueViolation(error)) throw error
        throw new Refusal('DUPLICATE_NAME', `An account "${username}" already exists`)
      }
    },

    /**
     * The account, with totals of the part within reach. Throws for an unknown account, which cannot happen to
     * an authenticated caller.
     */
    async get({ account, within }: Reach): Promise<AccountInfo> {
      const row = await findAccount(db, account)
      if (row === undefined) throw new Error(`account ${account} is gone`)
      if (within === null) return accountInfo(row)
      const top = await findFolder(db, within)
      const isBinEmpty = top === undefined || row.bin_entries === 0
      const storageInBin = isBinEmpty ? 0 : (await sumBin(db, { account, tree: top.id })).bytes
      return {
        ...accountInfo(row),
        storageUsed: (top?.tree_bytes ?? 0) + storageInBin,
        storageInBin,
        filesCount: top?.tree_files ?? 0,
        foldersCount: top === undefined ? 0 : top.tree_folders + 1,
      }
    },

    /** Deletes the remains of accounts that their owners have deleted. */
    async dropRemoved(mayGoOn: () => boolean): Promise<void> {
      while (mayGoOn() && (await dropRemovedAccounts(db, STEP)) === STEP);
    },
  }
}

export type Accounts = ReturnType<typeof createAccounts>

export function accountInfo(row: AccountRow): AccountInfo {
  return {
    id: row.id,
    username: row.username,
    displayName: row.display_name,
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
    storageUsed: row.storage_used,
    storageInBin: row.bin_bytes,
    filesCount: row.files_count,
    foldersCount: row.folders_count,
    isAdmin: row.is_admin === 1,
    hasCodes: row.two_factor === 1,
    quota: row.quota,
    inactiveDays: row.inactive_days,
  }
}

/** Effective at once; jobs remove rows and bytes later. The account must be locked. */
export async function removeAccount(trx: Trx, account: AccountId, now: number): Promise<void> {
  await endSessions(trx, account, null)
  await dropIdentities(trx, account)
  await dropMailAddress(trx, account)
  await dropMailsOf(trx, account)
  await dropKeys(trx, account)
  await dropWebhooksOf(trx, account)
  await giveUpReturns(trx, account)
  await emptyBin(trx, account)
  await markFolderDeleted(trx, await topFolder(trx, account), now)
  await markAccountRemoved(trx, account, now)
}

/** Throws Refusal LAST_ADMINISTRATOR. Call before locking any account; holds until the transaction ends. */
export async function assertNotLastAdmin(trx: Trx, account: AccountId): Promise<void> {
  const admins = await lockAdmins(trx)
  if (admins.length > 1 || !admins.includes(account)) return
  throw new Refusal(
    'LAST_ADMINISTRATOR',
    'Nobody else administers this server; make another account an administrator first',
  )
}

export function createAdministratorCreation(db: Database, clock: Clock, random: Random) {
  return {
    /** True if the account was created. Throws Refusal INVALID_NAME, and ACCOUNT_DISABLED. */
    async make(name: string): Promise<boolean> {
      const username = parseUsername(name)
      return inTransaction(db, async (trx) => {
        await lockMigrations(trx)
        const known = await findAccountByName(trx, username)
        if (known !== undefined && known.disabled_at !== null) {
          throw new Refusal('ACCOUNT_DISABLED', `the account "${username}" is disabled; enable it first`)
        }
        await dropOneTimeLinks(trx, 'welcome', 'all')
        if (known?.is_admin !== 1) {
          await recordAuditEntry(trx, clock, COMMAND_LINE, { act: 'admin.made', object: username })
        }
        if (known !== undefined) {
          await setAdmin(trx, known.id)
          return false
        }
        await insertAccount(trx, random, { username, created_at: clock.now(), is_admin: 1 })
        return true
      })
    },
  }
}

export type AdministratorCreation = ReturnType<typeof createAdministratorCreation>

/** Notifies owners once until there is room again. */

const NEARLY_FULL_STEP = 100

export async function notifyNearlyFull(
  db: Database,
  clock: Pick<Clock, 'now'>,
  storageLimit: number,
  mayGoOn: () => boolean,
): Promise<void> {
  await forgetNearlyFull(db, storageLimit)
  while (mayGoOn()) {
    const accounts = await accountsNearlyFull(db, storageLimit, NEARLY_FULL_STEP)
    for (const { id: account, storage_used: bytes } of accounts) {
      await inTransaction(db, async (trx) => {
        await lockAccount(trx, account)
        const now = clock.now()
        if (!(await noteNearlyFull(trx, account, now))) return
        await noteEvent(trx, { account, link: null, kind: 'storage.nearly_full', at: now, bytes })
      })
    }
    if (accounts.length < NEARLY_FULL_STEP) return
    await yieldToEventLoop()
  }
}

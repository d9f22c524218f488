import {
  type AccountRow,
  findAccount,
  findAccountByName,
  insertAccount,
  listAccounts,
  setAccountDisabled,
} from '../database/accounts.ts'
import { isUniqueViolation } from '../database/differences.ts'
import type { Db } from '../database/schema.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import { parseUsername } from '../domain/username.ts'
import { issueKey } from './keys.ts'

export interface AccountInfo {
  readonly id: AccountId
  readonly username: string
  readonly createdAt: number
  readonly disabledAt: number | null
  /** Bytes of completed files, those in the bin included. */
  readonly storageUsed: number
  readonly storageInBin: number
  readonly filesCount: number
  readonly foldersCount: number
}

export interface Accounts {
  /** Makes the account with its first key. Throws Refusal INVALID_NAME or DUPLICATE_NAME. */
  add(username: string): Promise<{ id: AccountId; username: string; apiKey: string }>
  /** Throws when there is no such account, which cannot happen to a caller who was just authenticated. */
  get(id: AccountId): Promise<AccountInfo>
  list(): Promise<AccountInfo[]>
  /** Its keys get 403 from now on; its public links keep working. Disabling twice does nothing. */
  disable(username: string): Promise<void>
}

export function createAccounts(db: Db, clock: Clock, random: Random): Accounts {
  return {
    async add(name) {
      const username = parseUsername(name)
      try {
        return await db.transaction().execute(async (trx) => {
          const id = await insertAccount(trx, random, { username, created_at: clock.now() })
          const { apiKey } = await issueKey(trx, clock, random, id, 'first key')
          return { id, username, apiKey }
        })
      } catch (error) {
        if (!isUniqueViolation(error)) throw error
        throw new Refusal('DUPLICATE_NAME', `An account "${username}" already exists`)
      }
    },

    async get(id) {
      const row = await findAccount(db, id)
      if (row === undefined) throw new Error(`account ${id} is gone`)
      return accountInfo(row)
    },

    async list() {
      return (await listAccounts(db)).map(accountInfo)
    },

    async disable(username) {
      const account = await findAccountByName(db, username.toLowerCase())
      if (account === undefined) {
        throw new Refusal('NOT_FOUND', `there is no account "${username}"; "account list" shows them all`)
      }
      await setAccountDisabled(db, account.id, clock.now())
    },
  }
}

function accountInfo(row: AccountRow): AccountInfo {
  return {
    id: row.id,
    username: row.username,
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
    storageUsed: row.storage_used,
    storageInBin: row.bin_bytes,
    filesCount: row.files_count,
    foldersCount: row.folders_count,
  }
}

import { findAccountByName } from '../../core/accounts.rows.ts'
import { recordAuditEntry } from '../../core/audit-log.ts'
import type { AccountCaller } from '../../core/callers.ts'
import { hashToken } from '../../core/token-hash.ts'
import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import { COMMAND_LINE } from '../../domain/audit.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { Random } from '../../domain/random.ts'
import { formatScopes } from '../../domain/scopes.ts'
import { ownFolder } from '../../files/folders/places.ts'
import { findKeyHolder, listKeys, setKeyRevoked } from './api-keys.rows.ts'
import { createHolders, unknownKey, usableCaller } from './key-holders.ts'
import { type KeyInfo, keyInfo } from './key-info.ts'
import { issueKey, type KeyRequest, type NewKey } from './key-issuing.ts'

export interface Keys {
  /** Throws Refusal INVALID_API_KEY, or ACCOUNT_DISABLED. */
  authenticate(secret: string): Promise<AccountCaller>
  /** Throws like `issueKey`, and NOT_FOUND or, for another account's folder, FOLDER_NOT_FOUND. */
  add(username: string, key: KeyRequest): Promise<NewKey>
  list(username: string): Promise<KeyInfo[]>
  revoke(username: string, prefixOrId: string): Promise<void>
}

export function createKeys(db: Database, clock: Clock, random: Random): Keys {
  const holders = createHolders(db)

  return {
    async authenticate(secret) {
      const holder = holders.known(secret) ?? (await holders.find(secret))
      if (holder === undefined) throw unknownKey()
      return usableCaller(holder, clock.now())
    },

    async add(username, key) {
      const account = await knownAccount(db, username)
      if (key.folder !== null) await ownFolder(db, { account, within: null }, key.folder)
      return inTransaction(db, async (trx) => {
        const made = await issueKey(trx, clock, random, account, key)
        const details = { key: made.id, name: made.name, scopes: formatScopes(made.scopes) }
        await recordAuditEntry(trx, clock, COMMAND_LINE, {
          act: 'key.made',
          object: username.toLowerCase(),
          details,
        })
        return made
      })
    },

    async list(username) {
      return (await listKeys(db, await knownAccount(db, username))).map(keyInfo)
    },

    async revoke(username, prefixOrId) {
      const keys = await listKeys(db, await knownAccount(db, username))
      const held = await findKeyHolder(db, hashToken(prefixOrId))
      const wanted = keys.filter(
        (key) => String(key.id) === prefixOrId || key.prefix === prefixOrId || key.id === held?.key,
      )
      const [key] = wanted
      if (key === undefined) {
        throw new Refusal('NOT_FOUND', `${username} has no key ${prefixOrId}; "key list" shows them`)
      }
      if (wanted.length > 1) {
        throw new Refusal(
          'INVALID_REQUEST',
          `${prefixOrId} is the beginning of several keys; give the number`,
        )
      }
      await inTransaction(db, async (trx) => {
        await setKeyRevoked(trx, key.id, clock.now())
        const details = { key: key.id, name: key.name }
        await recordAuditEntry(trx, clock, COMMAND_LINE, {
          act: 'key.revoked',
          object: username.toLowerCase(),
          details,
        })
      })
    },
  }
}

async function knownAccount(db: Database, username: string): Promise<AccountId> {
  const account = await findAccountByName(db, username.toLowerCase())
  if (account === undefined) {
    throw new Refusal('NOT_FOUND', `there is no account "${username}"; "account list" shows them all`)
  }
  return account.id
}

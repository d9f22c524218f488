import { findAccountByName } from '../../core/accounts.rows.ts'
import { recordAuditEntry } from '../../core/audit-log.ts'
import type { AccountCaller } from '../../core/callers.ts'
import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import { COMMAND_LINE } from '../../domain/audit.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { Random } from '../../domain/random.ts'
import { formatScopes, parseScopes } from '../../domain/scopes.ts'
import { ownFolder } from '../../files/folders/places.ts'
import { findKeyHolder, type KeyHolder, listKeys, setKeyRevoked } from './api-keys.rows.ts'
import { type KeyInfo, keyInfo } from './key-info.ts'
import { hashKey, issueKey, type KeyRequest, type NewKey } from './key-issuing.ts'

/** Authentication by API key, and the command line's administration of keys. */
export interface Keys {
  /** The caller that the key authenticates. Throws Refusal INVALID_API_KEY, or ACCOUNT_DISABLED. */
  authenticate(secret: string): Promise<AccountCaller>
  /**
   * Throws like `issueKey`, NOT_FOUND for the account, and FOLDER_NOT_FOUND for a folder of another account.
   */
  add(username: string, key: KeyRequest): Promise<NewKey>
  /** All keys of the account, including revoked ones. */
  list(username: string): Promise<KeyInfo[]>
  /** Revokes the account's key with that id, prefix or full text. */
  revoke(username: string, prefixOrId: string): Promise<void>
}

export function createKeys(db: Database, clock: Clock, random: Random): Keys {
  const holders = createHolders(db)

  return {
    async authenticate(secret) {
      const holder = holders.known(secret) ?? (await holders.find(secret))
      if (holder === undefined) {
        throw new Refusal('INVALID_API_KEY', 'The API key is unknown or was revoked')
      }
      const { disabledAt, caller } = holder
      if (caller.expiresAt !== null && caller.expiresAt <= clock.now()) {
        throw new Refusal('INVALID_API_KEY', 'The API key has expired; make a new one')
      }
      if (disabledAt !== null) {
        throw new Refusal('ACCOUNT_DISABLED', 'This account is disabled; ask whoever runs this server')
      }
      return caller
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
      const held = await findKeyHolder(db, hashKey(prefixOrId))
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

/** Holder of a key that was not revoked; the key may have expired. */
interface Holder {
  readonly caller: AccountCaller
  readonly disabledAt: number | null
}

const MOST_HOLDERS = 10_000

interface Holders {
  /** The cached holder; undefined when the database must be queried. */
  known(secret: string): Holder | undefined
  find(secret: string): Promise<Holder | undefined>
}

/**
 * Cache of key holders, invalidated by any commit to the database: a key revoked by another process, such as
 * the command line, is refused from the next request on.
 */
function createHolders(db: Database): Holders {
  const holders = new Map<string, Holder>()
  let version: number | null = null

  return {
    known(secret) {
      const present = db.read.version()
      if (present === null || present !== version || holders.size > MOST_HOLDERS) holders.clear()
      version = present
      return holders.get(secret)
    },

    async find(secret) {
      const asked = version
      const row = await findKeyHolder(db, hashKey(secret))
      if (row === undefined) return undefined
      const holder = { caller: callerOf(row), disabledAt: row.disabled_at }
      // Not cached if anything was committed meanwhile, which may have changed the holder.
      if (version !== null && version === asked) holders.set(secret, holder)
      return holder
    },
  }
}

function callerOf(row: KeyHolder): AccountCaller {
  return {
    kind: 'account',
    account: row.account,
    username: row.username,
    by: { kind: 'key', key: row.key },
    scopes: parseScopes(row.scopes),
    within: row.folder,
    expiresAt: row.expires_at,
  }
}

async function knownAccount(db: Database, username: string): Promise<AccountId> {
  const account = await findAccountByName(db, username.toLowerCase())
  if (account === undefined) {
    throw new Refusal('NOT_FOUND', `there is no account "${username}"; "account list" shows them all`)
  }
  return account.id
}

import { findAccountByName } from '../../core/accounts.rows.ts'
import { recordAuditEntry } from '../../core/audit-log.ts'
import type { AccountCaller } from '../../core/callers.ts'
import { hashToken } from '../../core/hmac.ts'
import type { Database, Queryable } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import { formatScopes, parseScopes, type Scope } from '../../domain/access.ts'
import { COMMAND_LINE } from '../../domain/audit.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal, wrongSecret } from '../../domain/errors.ts'
import type { AccountId, FolderIdentifier, KeyId } from '../../domain/ids.ts'
import type { Random } from '../../domain/random.ts'
import { boundedNfc, plainName } from '../../domain/text.ts'
import { ownFolder } from '../../files/folders/places.ts'
import {
  findKeyHolder,
  insertKey,
  type KeyHolder,
  type KeyRow,
  listKeys,
  setKeyRevoked,
} from './api-keys.rows.ts'

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

/** Times are milliseconds since the epoch. */
export interface KeyInfo extends KeyGrant {
  readonly id: KeyId
  readonly name: string
  /** First characters, which identify the key to its owner. */
  readonly prefix: string
  readonly folderName: string | null
  readonly createdAt: number
  readonly lastUsedAt: number | null
  readonly revokedAt: number | null
}

export function keyInfo(row: KeyRow): KeyInfo {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    scopes: parseScopes(row.scopes),
    folder: row.folder,
    folderName: row.folder_name,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
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
      const row = await findKeyHolder(db, hashToken(secret))
      if (row === undefined) return undefined
      const holder = holderOf(row)
      // Not cached if anything was committed meanwhile, which may have changed the holder.
      if (version !== null && version === asked) holders.set(secret, holder)
      return holder
    },
  }
}

export function holderOf(row: KeyHolder): Holder {
  const caller: AccountCaller = {
    kind: 'account',
    account: row.account,
    username: row.username,
    by: { kind: 'key', key: row.key },
    scopes: parseScopes(row.scopes),
    within: row.folder,
    expiresAt: row.expires_at,
  }
  return { caller, disabledAt: row.disabled_at }
}

/** The caller that the key authenticates now. Throws Refusal INVALID_API_KEY, or ACCOUNT_DISABLED. */
export function usableCaller({ disabledAt, caller }: Holder, now: number): AccountCaller {
  if (caller.expiresAt !== null && caller.expiresAt <= now) {
    throw wrongSecret('INVALID_API_KEY', 'The API key has expired; make a new one', 'key')
  }
  if (disabledAt !== null) {
    throw new Refusal('ACCOUNT_DISABLED', 'This account is disabled; ask whoever runs this server')
  }
  return caller
}

export function unknownKey(): Refusal {
  return wrongSecret('INVALID_API_KEY', 'The API key is unknown or was revoked', 'key')
}

export interface KeyGrant {
  readonly scopes: readonly Scope[]
  readonly folder: FolderIdentifier | null
  readonly expiresAt: number | null
}

interface KeyRequest extends KeyGrant {
  readonly name: string
}

export interface NewKey extends KeyGrant {
  readonly id: KeyId
  readonly name: string
  readonly prefix: string
  readonly createdAt: number
  /** Available only now: only its SHA-256 is stored. */
  readonly apiKey: string
}

const PREFIX_LENGTH = 11
const LONGEST_NAME = 100

/** The caller must have checked the folder. Throws Refusal INVALID_NAME or INVALID_REQUEST. */
export async function issueKey(
  db: Queryable,
  clock: Clock,
  random: Random,
  account: AccountId,
  { name, scopes: wanted, folder, expiresAt }: KeyRequest,
): Promise<NewKey> {
  const label = boundedNfc(plainName(name, 'The name of a key'), LONGEST_NAME) ?? ''
  if (label === '') {
    throw new Refusal('INVALID_NAME', `The name of a key has 1 to ${LONGEST_NAME} characters`)
  }
  const createdAt = clock.now()
  const scopes = formatScopes(wanted)
  if (scopes === '') throw new Refusal('INVALID_REQUEST', 'A key needs at least one scope')
  if (expiresAt !== null && expiresAt <= createdAt) {
    throw new Refusal('INVALID_REQUEST', 'A key must expire in the future; choose a later time')
  }
  const apiKey = `hf_${Buffer.from(random(32)).toString('base64url')}`
  const prefix = apiKey.slice(0, PREFIX_LENGTH)
  const { id } = await insertKey(db, {
    account_id: account,
    name: label,
    prefix,
    hash: hashToken(apiKey),
    created_at: createdAt,
    scopes,
    folder,
    expires_at: expiresAt,
  })
  return { id, name: label, prefix, createdAt, scopes: parseScopes(scopes), folder, expiresAt, apiKey }
}

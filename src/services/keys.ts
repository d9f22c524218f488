import { findAccountByName } from '../database/accounts.ts'
import {
  committedVersion,
  findKeyHolder,
  insertKey,
  type KeyHolder,
  type KeyRow,
  listKeys,
  setKeyRevoked,
} from '../database/api-keys.ts'
import type { Db } from '../database/schema.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, KeyId, Sha256 } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import type { AccountCaller } from './caller.ts'

export interface NewKey {
  readonly id: KeyId
  readonly name: string
  readonly prefix: string
  /** Known now and never again: only its SHA-256 is kept. */
  readonly apiKey: string
}

export interface KeyInfo {
  readonly id: KeyId
  readonly name: string
  readonly prefix: string
  readonly createdAt: number
  readonly lastUsedAt: number | null
  readonly revokedAt: number | null
}

export interface Keys {
  /** Who holds the key. Throws Refusal INVALID_API_KEY, or ACCOUNT_DISABLED. */
  authenticate(secret: string): Promise<AccountCaller>
  add(username: string, name: string): Promise<NewKey>
  list(username: string): Promise<KeyInfo[]>
  /** Revokes the account's key of that number, prefix or full text. */
  revoke(username: string, prefixOrId: string): Promise<void>
}

const PREFIX_LENGTH = 11

export function createKeys(db: Db, clock: Clock, random: Random): Keys {
  const holderOf = createHolders(db)

  return {
    async authenticate(secret) {
      const holder = await holderOf(secret)
      if (holder === undefined) {
        throw new Refusal('INVALID_API_KEY', 'The API key is unknown or was revoked')
      }
      if (holder.disabled_at !== null) {
        throw new Refusal('ACCOUNT_DISABLED', 'This account is disabled; ask whoever runs this server')
      }
      const { account, key, username } = holder
      return { kind: 'account', account, username, by: { kind: 'key', key } }
    },

    async add(username, name) {
      const account = await knownAccount(db, username)
      return issueKey(db, clock, random, account, name)
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
      await setKeyRevoked(db, key.id, clock.now())
    },
  }
}

/** Makes a key of 256 random bits for the account. */
export async function issueKey(
  db: Db,
  clock: Clock,
  random: Random,
  account: AccountId,
  name: string,
): Promise<NewKey> {
  const label = name.normalize('NFC').trim()
  if (label.length < 1 || label.length > 100) {
    throw new Refusal('INVALID_NAME', 'The name of a key has 1 to 100 characters')
  }
  const apiKey = `hf_${Buffer.from(random(32)).toString('base64url')}`
  const prefix = apiKey.slice(0, PREFIX_LENGTH)
  const { id } = await insertKey(db, {
    account_id: account,
    name: label,
    prefix,
    hash: hashKey(apiKey),
    created_at: clock.now(),
  })
  return { id, name: label, prefix, apiKey }
}

const MOST_HOLDERS = 10_000

/**
 * Who holds a key, remembered until anything is committed to the database: a key that was revoked, by the command
 * line too, is refused with the next request.
 */
function createHolders(db: Db): (secret: string) => Promise<KeyHolder | undefined> {
  const holders = new Map<string, KeyHolder>()
  let version: number | null = null

  return async (secret) => {
    const present = committedVersion(db)
    if (present === null || present !== version || holders.size > MOST_HOLDERS) holders.clear()
    version = present
    const known = holders.get(secret)
    if (known !== undefined) return known
    const holder = await findKeyHolder(db, hashKey(secret))
    if (holder !== undefined) holders.set(secret, holder)
    return holder
  }
}

async function knownAccount(db: Db, username: string): Promise<AccountId> {
  const account = await findAccountByName(db, username.toLowerCase())
  if (account === undefined) {
    throw new Refusal('NOT_FOUND', `there is no account "${username}"; "account list" shows them all`)
  }
  return account.id
}

function hashKey(secret: string): Sha256 {
  return Bun.SHA256.hash(secret, 'hex') as Sha256
}

function keyInfo(row: KeyRow): KeyInfo {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  }
}

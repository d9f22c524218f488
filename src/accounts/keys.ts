import { findAccountByName } from '../core/accounts.rows.ts'
import { recordAuditEntry } from '../core/audit-log.ts'
import { type AccountCaller, assertScope } from '../core/callers.ts'
import { hashToken } from '../core/hmac.ts'
import { countTry } from '../core/rate-limits/attempts.ts'
import type { RateLimits } from '../core/rate-limits/rate-limits.ts'
import type { Database, Queryable } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import { formatScopes, parseScopes, type Scope } from '../domain/access.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, FolderIdentifier, FolderPlace, KeyId } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import { boundedNfc, plainName } from '../domain/text.ts'
import { findFolder } from '../files/folders/folders.rows.ts'
import { isWithin, ownFolder } from '../files/folders/places.ts'
import { countKeys, insertKey, type KeyRow, listKeys, setKeyRevoked } from './api-keys.rows.ts'

export function createKeys(db: Database, clock: Clock, random: Random) {
  return {
    /** Throws like `issueKey`, and NOT_FOUND or, for another account's folder, FOLDER_NOT_FOUND. */
    async add(username: string, key: KeyRequest): Promise<NewKey> {
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

    async list(username: string): Promise<KeyInfo[]> {
      return (await listKeys(db, await knownAccount(db, username))).map(keyInfo)
    },

    async revoke(username: string, prefixOrId: string): Promise<void> {
      const keys = await listKeys(db, await knownAccount(db, username))
      const hash = hashToken(prefixOrId)
      const wanted = keys.filter(
        (key) =>
          String(key.id) === prefixOrId ||
          key.prefix === prefixOrId ||
          (key.hash === hash && key.revoked_at === null),
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

export type Keys = ReturnType<typeof createKeys>

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

export interface WantedKey {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly folder: FolderPlace
  readonly expiresAt: number | null
}

const MOST_KEYS = 100
/** Keys of an account per day: each leaves a row, even when revoked. */
const NEW_KEYS = 300

/** A caller cannot see, create or revoke a key with more permissions than its own credential. */
export function createOwnKeys(db: Database, rates: RateLimits, clock: Clock, random: Random) {
  async function isCovered(caller: AccountCaller, key: KeyGrant): Promise<boolean> {
    if (key.scopes.some((scope) => !caller.scopes.includes(scope))) return false
    if (outlives(key.expiresAt, caller.expiresAt)) return false
    if (caller.within === null || key.folder === caller.within) return true
    const folder = key.folder === null ? undefined : await findFolder(db, key.folder)
    return folder !== undefined && isWithin(db, caller, folder.id)
  }

  /** Oldest first, without revoked keys. */
  async function list(caller: AccountCaller): Promise<KeyInfo[]> {
    const covered: KeyInfo[] = []
    for (const row of await listKeys(db, caller.account)) {
      const key = keyInfo(row)
      if (key.revokedAt === null && (await isCovered(caller, key))) covered.push(key)
    }
    return covered
  }

  return {
    list,

    /**
     * Caps the key by the caller's permissions and lifetime, which are also the defaults. Throws like
     * `issueKey`, and Refusal SCOPE_MISSING, FOLDER_NOT_FOUND, RATE_LIMITED, or INVALID_REQUEST for too many
     * keys or one that outlives the caller's.
     */
    async add(caller: AccountCaller, key: WantedKey): Promise<NewKey & Pick<KeyInfo, 'folderName'>> {
      for (const scope of key.scopes) assertScope(caller, scope)
      const expiresAt = key.expiresAt ?? caller.expiresAt
      if (outlives(expiresAt, caller.expiresAt)) {
        throw new Refusal('INVALID_REQUEST', 'A key cannot make one that lives longer than itself')
      }
      const place = key.folder === 'root' ? caller.within : key.folder
      const folder = place === null ? null : await ownFolder(db, caller, place)
      const request = { name: key.name, scopes: key.scopes, folder: folder?.identifier ?? null, expiresAt }
      const windows = [{ subject: `new-keys:${caller.account}`, limit: NEW_KEYS, length: DAY }]
      await countTry(rates, windows, 'Too many new keys today; wait a while and try again')
      return inTransaction(db, async (trx) => {
        await lockAccount(trx, caller.account)
        if ((await countKeys(trx, caller.account)) >= MOST_KEYS) {
          throw new Refusal('INVALID_REQUEST', `An account has ${MOST_KEYS} keys at most; revoke one first`)
        }
        const made = await issueKey(trx, clock, random, caller.account, request)
        return { ...made, folderName: folder?.name ?? null }
      })
    },

    /** Throws Refusal NOT_FOUND. */
    async revoke(caller: AccountCaller, id: KeyId): Promise<void> {
      const key = (await list(caller)).find((each) => each.id === id)
      if (key === undefined) throw new Refusal('NOT_FOUND', 'There is no such key')
      await setKeyRevoked(db, id, clock.now())
    },
  }
}

function outlives(end: number | null, limit: number | null): boolean {
  return limit !== null && (end === null || end > limit)
}

import { type AccountCaller, assertScope } from '../../core/callers.ts'
import { countTry } from '../../core/rate-limits/attempts.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import type { Database } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, DAY } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { FolderPlace, KeyId } from '../../domain/ids.ts'
import type { Random } from '../../domain/random.ts'
import type { Scope } from '../../domain/scopes.ts'
import { findFolder } from '../../files/folders/folders.rows.ts'
import { isWithin, ownFolder } from '../../files/folders/places.ts'
import { countKeys, listKeys, setKeyRevoked } from './api-keys.rows.ts'
import { type KeyInfo, keyInfo } from './key-info.ts'
import { issueKey, type KeyGrant, type NewKey } from './key-issuing.ts'

/** A request for a new key. */
export interface WantedKey {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly folder: FolderPlace
  /** null: never expires. */
  readonly expiresAt: number | null
}

/**
 * Management of an account's keys by its callers. Nobody can see, create or revoke a key with more
 * permissions than their own credential.
 */
export interface OwnKeys {
  /** Keys that were not revoked, from oldest to newest. */
  list(caller: AccountCaller): Promise<KeyInfo[]>
  /**
   * Creates a key with at most the caller's permissions and lifetime; values missing in the request are the
   * caller's. Throws like `issueKey`, and Refusal SCOPE_MISSING, FOLDER_NOT_FOUND, RATE_LIMITED, or
   * INVALID_REQUEST for too many keys or one that outlives the caller's.
   */
  add(caller: AccountCaller, key: WantedKey): Promise<NewKey & Pick<KeyInfo, 'folderName'>>
  /** Throws Refusal NOT_FOUND. */
  revoke(caller: AccountCaller, key: KeyId): Promise<void>
}

const MOST_KEYS = 100
/** Keys that an account may create in a day: each leaves a row, even when revoked. */
const NEW_KEYS = 300

export function createOwnKeys(db: Database, rates: RateLimits, clock: Clock, random: Random): OwnKeys {
  /** Whether the key has no more permissions than the caller. */
  async function isCovered(caller: AccountCaller, key: KeyGrant): Promise<boolean> {
    if (key.scopes.some((scope) => !caller.scopes.includes(scope))) return false
    if (outlives(key.expiresAt, caller.expiresAt)) return false
    if (caller.within === null || key.folder === caller.within) return true
    const folder = key.folder === null ? undefined : await findFolder(db, key.folder)
    return folder !== undefined && isWithin(db, caller, folder.id)
  }

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

    async add(caller, key) {
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

    async revoke(caller, id) {
      const key = (await list(caller)).find((each) => each.id === id)
      if (key === undefined) throw new Refusal('NOT_FOUND', 'There is no such key')
      await setKeyRevoked(db, id, clock.now())
    },
  }
}

/** Whether the first expiry is later than the second; null: never expires. */
function outlives(end: number | null, limit: number | null): boolean {
  return limit !== null && (end === null || end > limit)
}

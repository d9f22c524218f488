import { type AccountCaller, assertScope } from '../../core/callers.ts'
import { countTry } from '../../core/rate-limits/attempts.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import type { Database } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Scope } from '../../domain/access.ts'
import { type Clock, DAY } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { FolderPlace, KeyId } from '../../domain/ids.ts'
import type { Random } from '../../domain/random.ts'
import { findFolder } from '../../files/folders/folders.rows.ts'
import { isWithin, ownFolder } from '../../files/folders/places.ts'
import { countKeys, listKeys, setKeyRevoked } from './api-keys.rows.ts'
import { issueKey, type KeyGrant, type KeyInfo, keyInfo, type NewKey } from './keys.ts'

export interface WantedKey {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly folder: FolderPlace
  readonly expiresAt: number | null
}

/** A caller cannot see, create or revoke a key with more permissions than its own credential. */
export interface OwnKeys {
  /** Oldest first, without revoked keys. */
  list(caller: AccountCaller): Promise<KeyInfo[]>
  /**
   * Caps the key by the caller's permissions and lifetime, which are also the defaults. Throws like
   * `issueKey`, and Refusal SCOPE_MISSING, FOLDER_NOT_FOUND, RATE_LIMITED, or INVALID_REQUEST for too many
   * keys or one that outlives the caller's.
   */
  add(caller: AccountCaller, key: WantedKey): Promise<NewKey & Pick<KeyInfo, 'folderName'>>
  /** Throws Refusal NOT_FOUND. */
  revoke(caller: AccountCaller, key: KeyId): Promise<void>
}

const MOST_KEYS = 100
/** Keys of an account per day: each leaves a row, even when revoked. */
const NEW_KEYS = 300

export function createOwnKeys(db: Database, rates: RateLimits, clock: Clock, random: Random): OwnKeys {
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

function outlives(end: number | null, limit: number | null): boolean {
  return limit !== null && (end === null || end > limit)
}

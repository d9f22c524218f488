import type { AccountCaller } from '../../core/callers.ts'
import { hashToken } from '../../core/token-hash.ts'
import type { Database } from '../../database/database.ts'
import { Refusal, wrongSecret } from '../../domain/errors.ts'
import { parseScopes } from '../../domain/scopes.ts'
import { findKeyHolder, type KeyHolder } from './api-keys.rows.ts'

/** Holder of a key that was not revoked; the key may have expired. */
export interface Holder {
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
export function createHolders(db: Database): Holders {
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

import { findAccount } from '../database/accounts.ts'
import {
  countToKeep,
  countUnused,
  dropFileWarnings,
  type FileWarningRow,
  findFileWarning,
  insertFileWarning,
  longestToKeep,
  longestUnused,
  nextKept,
  setKept,
} from '../database/file-warnings.ts'
import {
  type AccountToWarn,
  accountsToWarn,
  forgetWarnedAfter,
  noteWarned,
} from '../database/mail-addresses.ts'
import type { Db } from '../database/schema.ts'
import { hashToken } from '../database/token-hash.ts'
import { inTransaction } from '../database/transactions.ts'
import { addFileUse } from '../database/usage.ts'
import { type Clock, DAY, HOUR } from '../domain/clock.ts'
import { type AccountId, GUESTS } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import type { ClockGuard } from './clock-guard.ts'
import { invalidLink } from './one-time-links.ts'
import type { Lifetime, Outages } from './outages.ts'
import type { Outbox } from './outbox.ts'
import { letOthersIn } from './turns.ts'
import type { WarningEnd } from './warning-end.ts'

/** What a warning is about that somebody has the link of. */
export interface WarnedOf {
  readonly username: string
  /** How many of its files nobody has looked at since. */
  readonly files: number
}

/** Tells owners of files that go in a week, and keeps those files for whoever has the link. */
export interface FileWarnings {
  /** Writes each owner at most one mail a day; a file that nobody looks at is told of once. */
  warn(mayGoOn: () => boolean): Promise<void>
  /** Changes nothing. Throws Refusal INVALID_LINK. */
  look(token: string): Promise<WarnedOf>
  /**
   * Counts as a look at each of them, by which those that are hidden already come back; of very many, the last follow by
   * `keepRest`. Throws Refusal INVALID_LINK.
   */
  keep(token: string): Promise<void>
  keepRest(mayGoOn: () => boolean): Promise<void>
}

/** How long before it goes a file is told of. */
const DAYS_AHEAD = 7
const AHEAD = DAYS_AHEAD * DAY
/** What has expired goes for good a day after it. */
const LINK_DAYS = DAYS_AHEAD + 1
/** For so long clocks have agreed when what goes is told of. */
const SURE = HOUR
const MOST_NAMES = 20
const ACCOUNTS = 50
/** Files of one transaction, and of the request that keeps them. */
const STEP = 250
const AT_ONCE = 8 * STEP

export function createFileWarnings(parts: {
  db: Db
  clock: Clock
  random: Random
  guard: ClockGuard
  outbox: Outbox
  warningEnd: WarningEnd
  outages: Outages
  lifetime: Lifetime
}): FileWarnings {
  const { db, clock, random, guard, outbox, warningEnd, outages, lifetime } = parts
  const links = outages.lifetime(LINK_DAYS)

  async function warnOne(owner: AccountToWarn, until: number): Promise<void> {
    const { account_id, address, username, language } = owner
    const unused = { account_id, used_after: owner.warned_until ?? 0, used_until: until }
    const first = await longestUnused(db, unused, MOST_NAMES)
    const [next] = first
    if (next === undefined) return
    const count = first.length < MOST_NAMES ? first.length : await countUnused(db, unused)
    const token = Buffer.from(random(16)).toString('base64url')
    const now = clock.now()
    await inTransaction(db, async (trx) => {
      if (!(await noteWarned(trx, owner, now, until))) return
      await insertFileWarning(trx, { ...unused, token_hash: hashToken(token), warned_at: now })
      await outbox.put(trx, {
        account: account_id,
        to: address,
        language,
        letter: {
          kind: 'files going',
          username,
          names: first.map(({ name }) => name),
          more: Math.max(0, count - first.length),
          goAt: lifetime.endOf(next.last_used_at),
          days: lifetime.days,
          keepPath: `/keep/${token}`,
          unsubscribePath: warningEnd.pathOf(account_id),
        },
        lasts: AHEAD,
      })
    })
  }

  async function find(token: string): Promise<FileWarningRow> {
    const warning = await findFileWarning(db, hashToken(token))
    if (warning === undefined || links.endOf(warning.warned_at) <= clock.now()) throw invalidLink()
    return warning
  }

  /** False when all its files are kept. Those that would go first come first. */
  async function keepSome(warning: FileWarningRow, at: number): Promise<boolean> {
    const ids = (await longestToKeep(db, warning, STEP)).sort((a, b) => a - b)
    if (ids.length > 0) {
      await inTransaction(db, (trx) => addFileUse(trx, ids, { views: 0, downloads: 0, lastUsedAt: at }))
    }
    if (ids.length === STEP) return true
    await setKept(db, warning.id, null)
    return false
  }

  return {
    async warn(mayGoOn) {
      await outages.settle()
      await dropFileWarnings(db, links.cutoff())
      if (!outbox.isOpen || lifetime.days <= DAYS_AHEAD || guard.agreedFor() < SURE) return
      const until = lifetime.cutoff(clock.now() + AHEAD)
      await forgetWarnedAfter(db, until)
      let after: AccountId = GUESTS
      while (mayGoOn()) {
        const owners = await accountsToWarn(db, after, clock.now() - DAY, ACCOUNTS)
        for (const owner of owners) {
          await warnOne(owner, until)
          after = owner.account_id
          await letOthersIn()
        }
        if (owners.length < ACCOUNTS) break
      }
    },

    async look(token) {
      const warning = await find(token)
      const owner = await findAccount(db, warning.account_id)
      if (owner === undefined || owner.removed_at !== null) throw invalidLink()
      return {
        username: owner.username,
        files: warning.kept_at === null ? await countToKeep(db, warning) : 0,
      }
    },

    async keep(token) {
      const warning = await find(token)
      const at = clock.now()
      // From here on it is kept, whatever becomes of this request.
      await setKept(db, warning.id, at)
      for (let kept = 0; kept < AT_ONCE; kept += STEP) {
        if (!(await keepSome(warning, at))) break
        await letOthersIn()
      }
    },

    async keepRest(mayGoOn) {
      while (mayGoOn()) {
        const warning = await nextKept(db)
        if (warning === undefined) break
        await keepSome(warning, warning.kept_at ?? clock.now())
        await letOthersIn()
      }
    },
  }
}

import type { ClockGuard } from '../core/core.ts'
import { hashToken } from '../core/hmac.ts'
import type { Lifetime, Outages } from '../core/outages.ts'
import type { Database, Trx } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY, HOUR, yieldToEventLoop } from '../domain/clock.ts'
import { type AccountId, GUESTS } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import { type Inactivity, ownInactiveDays } from '../files/expiry.ts'
import {
  type AccountToWarn,
  accountsToWarn,
  forgetWarnedAfter,
  noteWarned,
} from '../mail/mail-addresses.rows.ts'
import type { Outbox } from '../mail/outbox.ts'
import type { WarningEnd } from './expiry-warning-end.ts'
import { countUnused, insertFileWarning, longestUnused, type UnusedFiles } from './expiry-warnings.rows.ts'
import { DAYS_AHEAD, type WarnedFiles } from './warned-files.ts'

export interface FileWarnings {
  /** At most one mail a day per owner; a file is named once until it is used again. */
  warn(mayGoOn: () => boolean): Promise<void>
}

const AHEAD = DAYS_AHEAD * DAY
/** Milliseconds: a wrong clock would warn of files that do not expire yet. */
const CLOCKS_AGREED = HOUR
const MOST_NAMES = 20
const ACCOUNTS = 50

interface FileWarningParts {
  readonly db: Database
  readonly clock: Clock
  readonly random: Random
  readonly guard: ClockGuard
  readonly outbox: Outbox
  readonly warningEnd: WarningEnd
  readonly warnedFiles: Pick<WarnedFiles, 'dropOld'>
  readonly outages: Pick<Outages, 'settle'>
  readonly inactivity: Pick<Inactivity, 'accounts'>
}

export function createFileWarnings(parts: FileWarningParts): FileWarnings {
  const { db, clock, guard, outbox, warnedFiles, outages, inactivity } = parts

  /** Null for files that stay for good, or too briefly for a warning. */
  function warnedLifetime(days: number | null): Lifetime | null {
    const lifetime = inactivity.accounts(days)
    return lifetime === null || lifetime.days <= DAYS_AHEAD ? null : lifetime
  }

  return {
    async warn(mayGoOn) {
      const now = await outages.settle()
      await warnedFiles.dropOld()
      if (!outbox.isOpen || guard.agreedFor() < CLOCKS_AGREED) return
      for (const days of [null, ...(await ownInactiveDays(db))]) {
        const lifetime = warnedLifetime(days)
        if (lifetime !== null) await forgetWarnedAfter(db, days, lifetime.cutoff(now + AHEAD))
      }
      let after: AccountId = GUESTS
      while (mayGoOn()) {
        const owners = await accountsToWarn(db, after, clock.now() - DAY, ACCOUNTS)
        for (const owner of owners) {
          const lifetime = warnedLifetime(owner.inactive_days)
          if (lifetime !== null) await warnOwner(parts, owner, lifetime, now)
          after = owner.account_id
          await yieldToEventLoop()
        }
        if (owners.length < ACCOUNTS) break
      }
    },
  }
}

async function warnOwner(
  parts: FileWarningParts,
  owner: AccountToWarn,
  lifetime: Lifetime,
  now: number,
): Promise<void> {
  const { db, clock, random } = parts
  const until = lifetime.cutoff(now + AHEAD)
  const unused = { account_id: owner.account_id, used_after: owner.warned_until ?? 0, used_until: until }
  const first = await longestUnused(db, unused, MOST_NAMES)
  const [next] = first
  if (next === undefined) return
  const count = first.length < MOST_NAMES ? first.length : await countUnused(db, unused)
  const warning: Warning = {
    unused,
    names: first.map(({ name }) => name),
    more: Math.max(0, count - first.length),
    expiresAt: lifetime.endOf(next.last_used_at),
    days: lifetime.days,
    token: Buffer.from(random(16)).toString('base64url'),
    warnedAt: clock.now(),
  }
  await inTransaction(db, (trx) => send(trx, parts, owner, warning))
}

interface Warning {
  readonly unused: UnusedFiles
  readonly names: readonly string[]
  readonly more: number
  readonly expiresAt: number
  readonly days: number
  readonly token: string
  readonly warnedAt: number
}

/** Sends nothing when another node has warned the owner meanwhile. */
async function send(
  trx: Trx,
  parts: FileWarningParts,
  owner: AccountToWarn,
  warning: Warning,
): Promise<void> {
  const { outbox, warningEnd } = parts
  const { unused, names, more, expiresAt, days, token, warnedAt } = warning
  if (!(await noteWarned(trx, owner, warnedAt, unused.used_until))) return
  await insertFileWarning(trx, { ...unused, token_hash: hashToken(token), warned_at: warnedAt })
  await outbox.put(trx, {
    account: owner.account_id,
    to: owner.address,
    language: owner.language,
    content: {
      kind: 'files going',
      username: owner.username,
      names,
      more,
      goAt: expiresAt,
      days,
      keepPath: `/keep/${token}`,
      unsubscribePath: warningEnd.pathOf(owner.account_id),
    },
    lasts: AHEAD,
  })
}

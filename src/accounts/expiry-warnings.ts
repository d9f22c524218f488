import { sql } from 'kysely'
import { findAccount } from '../core/accounts.rows.ts'
import type { Core } from '../core/core.ts'
import { hashToken, type Signing } from '../core/hmac.ts'
import type { Lifetime, Outages } from '../core/outages.ts'
import type { Database, Trx } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import { DAY, HOUR, yieldToEventLoop } from '../domain/clock.ts'
import { type AccountId, type FileId, type FileWarningId, GUESTS, type Sha256 } from '../domain/ids.ts'
import { type Inactivity, ownInactiveDays } from '../files/expiry.ts'
import { hasTransfers, takeTransferUse } from '../files/transfers.rows.ts'
import { addFileUse } from '../files/use-counters.ts'
import {
  type AccountToWarn,
  accountsToWarn,
  endWarnings,
  forgetWarnedAfter,
  noteWarned,
} from '../mail/mail-addresses.rows.ts'
import type { Outbox } from '../mail/outbox.ts'
import { invalidLink } from './one-time-links.ts'

const DAYS_AHEAD = 7
const AHEAD = DAYS_AHEAD * DAY
/** Milliseconds: a wrong clock would warn of files that do not expire yet. */
const CLOCKS_AGREED = HOUR
const MOST_NAMES = 20
const ACCOUNTS = 50

interface FileWarningParts extends Pick<Core, 'db' | 'clock' | 'random' | 'guard'> {
  readonly outbox: Outbox
  readonly warningEnd: WarningEnd
  readonly warnedFiles: Pick<WarnedFiles, 'dropOld'>
  readonly outages: Pick<Outages, 'settle'>
  readonly inactivity: Pick<Inactivity, 'accounts'>
}

export function createFileWarnings(parts: FileWarningParts) {
  const { db, clock, guard, outbox, warnedFiles, outages, inactivity } = parts

  /** Null for files that stay for good, or too briefly for a warning. */
  function warnedLifetime(days: number | null): Lifetime | null {
    const lifetime = inactivity.accounts(days)
    return lifetime === null || lifetime.days <= DAYS_AHEAD ? null : lifetime
  }

  return {
    /** At most one mail a day per owner; a file is named once until it is used again. */
    async warn(mayGoOn: () => boolean): Promise<void> {
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
  await takeUsesOfTransfers(db, unused)
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

/** Files in transfers that are in use do not end, and are not warned of. */
async function takeUsesOfTransfers(db: Database, unused: UnusedFiles): Promise<void> {
  if (!(await hasTransfers(db, unused.account_id))) return
  for (let after = 0 as FileId; ; ) {
    const rows = await liveUnused(db, unused)
      .select('id')
      .where('id', '>', after)
      .orderBy('id')
      .limit(STEP)
      .execute()
    const last = rows.at(-1)
    if (last === undefined) return
    const ids = rows.map(({ id }) => id)
    await inTransaction(db, (trx) => takeTransferUse(trx, ids))
    after = last.id
    await yieldToEventLoop()
  }
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

export interface FilesOfWarning {
  readonly username: string
  /** Unused since the warning; 0 when they are kept already. */
  readonly files: number
  /** Lifetime of a kept file; null for good. */
  readonly days: number | null
}

/** A day longer, until expired files are purged. */
const LINK_DAYS = DAYS_AHEAD + 1
const STEP = 250
const FILES_OF_REQUEST = 8 * STEP

/** The warning's link alone authorizes. */
export function createWarnedFiles({
  db,
  clock,
  outages,
  inactivity,
}: Pick<Core, 'db' | 'clock'> & {
  readonly outages: Pick<Outages, 'lifetime'>
  readonly inactivity: Pick<Inactivity, 'accounts'>
}) {
  const links = outages.lifetime(LINK_DAYS)

  async function find(token: string): Promise<FileWarningRow> {
    const warning = await findFileWarning(db, hashToken(token))
    if (warning === undefined || links.endOf(warning.warned_at) <= clock.now()) throw invalidLink()
    return warning
  }

  return {
    /** Changes nothing. Throws Refusal INVALID_LINK. */
    async look(token: string): Promise<FilesOfWarning> {
      const warning = await find(token)
      const owner = await findAccount(db, warning.account_id)
      if (owner === undefined || owner.removed_at !== null) throw invalidLink()
      return {
        username: owner.username,
        files: warning.kept_at === null ? await countToKeep(db, warning) : 0,
        days: inactivity.accounts(owner.inactive_days)?.days ?? null,
      }
    },

    /**
     * Counts as a use of each file, which also restores expired files that are not purged yet. Beyond
     * `FILES_OF_REQUEST`, `keepRest` does the rest. Throws Refusal INVALID_LINK.
     */
    async keep(token: string): Promise<void> {
      const warning = await find(token)
      const at = clock.now()
      // Recorded first, so that all files are kept even if this request is aborted.
      await setKept(db, warning.id, at)
      for (let kept = 0; kept < FILES_OF_REQUEST; kept += STEP) {
        if (!(await keepStep(db, warning, at))) break
        await yieldToEventLoop()
      }
    },

    isAnyLeft: async (): Promise<boolean> => (await nextKept(db)) !== undefined,

    async keepRest(mayGoOn: () => boolean): Promise<void> {
      while (mayGoOn()) {
        const warning = await nextKept(db)
        if (warning === undefined) break
        await keepStep(db, warning, warning.kept_at ?? clock.now())
        await yieldToEventLoop()
      }
    },

    async dropOld(): Promise<void> {
      await dropFileWarnings(db, links.cutoff())
    },
  }
}

export type WarnedFiles = ReturnType<typeof createWarnedFiles>

async function keepStep(db: Database, warning: FileWarningRow, at: number): Promise<boolean> {
  const ids = (await longestToKeep(db, warning, STEP)).sort((a, b) => a - b)
  if (ids.length > 0) {
    await inTransaction(db, (trx) => addFileUse(trx, ids, { views: 0, downloads: 0, lastUsedAt: at }))
  }
  if (ids.length === STEP) return true
  await setKept(db, warning.id, null)
  return false
}

const PURPOSE = 'end of warnings'

/** Unsubscribe link of warning mails: signed, needs no session, never expires. */
export function createWarningEnd(db: Database, signing: Signing) {
  function accountOf(token: string): AccountId {
    const account = signing.verify(PURPOSE, token)
    if (typeof account !== 'number') throw invalidLink()
    return account as AccountId
  }

  return {
    pathOf: (account: AccountId): string => `/unsubscribe/${signing.sign(PURPOSE, account)}`,

    /** Changes nothing. Throws Refusal INVALID_LINK. */
    async look(token: string): Promise<{ readonly username: string }> {
      const owner = await findAccount(db, accountOf(token))
      if (owner === undefined || owner.removed_at !== null) throw invalidLink()
      return { username: owner.username }
    },

    /** Idempotent. Throws Refusal INVALID_LINK. */
    end: async (token: string): Promise<void> => endWarnings(db, accountOf(token)),
  }
}

export type WarningEnd = ReturnType<typeof createWarningEnd>

/** Last used after `used_after` and up to `used_until`. */
export interface UnusedFiles {
  readonly account_id: AccountId
  readonly used_after: number
  readonly used_until: number
}

export interface FileWarningRow extends UnusedFiles {
  readonly id: FileWarningId
  readonly warned_at: number
  readonly kept_at: number | null
}

const columns = ['id', 'account_id', 'used_after', 'used_until', 'warned_at', 'kept_at'] as const

function unusedFiles(db: Database, { account_id, used_after, used_until }: UnusedFiles) {
  return db
    .selectFrom('files')
    .where('account_id', '=', account_id)
    .where('last_used_at', '>', used_after)
    .where('last_used_at', '<=', used_until)
}

const liveUnused = (db: Database, files: UnusedFiles) =>
  unusedFiles(db, files).where('removed_at', 'is', null)

const expiredUnused = (db: Database, files: UnusedFiles) =>
  unusedFiles(db, files).where('removed_at', 'is not', null).where('removal', '=', sql.lit('expired'))

export function longestUnused(
  db: Database,
  files: UnusedFiles,
  limit: number,
): Promise<{ id: FileId; name: string; last_used_at: number }[]> {
  return liveUnused(db, files)
    .select(['id', 'name', 'last_used_at'])
    .orderBy('last_used_at')
    .limit(limit)
    .execute()
}

export function countUnused(db: Database, files: UnusedFiles): Promise<number> {
  return countOf(db, liveUnused(db, files))
}

export async function countToKeep(db: Database, files: UnusedFiles): Promise<number> {
  return (await countUnused(db, files)) + (await countOf(db, expiredUnused(db, files)))
}

async function countOf(db: Database, files: ReturnType<typeof unusedFiles>): Promise<number> {
  const [row] = await db.readPool.rows(files.select(({ fn }) => fn.countAll<number>().as('count')))
  return Number(row?.count ?? 0)
}

/** At most `limit` of the counted files: expired ones first, then those due first. */
export async function longestToKeep(db: Database, files: UnusedFiles, limit: number): Promise<FileId[]> {
  const hidden = await db.readPool.rows(
    expiredUnused(db, files).select('id').orderBy('last_used_at').limit(limit),
  )
  const live = hidden.length < limit ? await longestUnused(db, files, limit - hidden.length) : []
  return [...hidden, ...live].map(({ id }) => id)
}

export async function insertFileWarning(
  trx: Trx,
  warning: UnusedFiles & { readonly token_hash: Sha256; readonly warned_at: number },
): Promise<void> {
  await trx.insertInto('file_warnings').values(warning).execute()
}

export function findFileWarning(db: Database, hash: Sha256): Promise<FileWarningRow | undefined> {
  return db.selectFrom('file_warnings').select(columns).where('token_hash', '=', hash).executeTakeFirst()
}

/** Expired files first, then those due first. */
export function nextKept(db: Database): Promise<FileWarningRow | undefined> {
  return db
    .selectFrom('file_warnings')
    .select(columns)
    .where('kept_at', 'is not', null)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}

/** `at`: time from which the files count as used; null once all are updated. */
export async function setKept(db: Database, id: FileWarningId, at: number | null): Promise<void> {
  await db.updateTable('file_warnings').set({ kept_at: at }).where('id', '=', id).execute()
}

export async function dropFileWarnings(db: Database, before: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('file_warnings')
    .where('warned_at', '<', before)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

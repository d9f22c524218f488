import { type SelectQueryBuilder, sql } from 'kysely'
import { noteChange } from '../core/changes.rows.ts'
import type { ClockGuard } from '../core/core.ts'
import type { Lifetime, Outages } from '../core/outages.ts'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { forUpdate, lockAccount, wholeSum } from '../database/differences.ts'
import type { Tables } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY, HOUR, yieldToEventLoop } from '../domain/clock.ts'
import { type AccountId, type BinEntryId, type FileId, type FolderId, GUESTS } from '../domain/ids.ts'
import type { Cleaning } from './blob-cleaning.job.ts'
import { markAlong } from './folders/folder-clearing.ts'
import { folderChain } from './folders/folders.rows.ts'
import { adjustTotals, markRemoved, type RemovableFile, removableColumns, setRemoved } from './removals.ts'
import { takeTransferUse } from './transfers.rows.ts'
import type { Usage } from './use-counters.ts'

export interface FileHolder {
  readonly account_id: AccountId
  /** 0 for never; null: those of the settings. */
  readonly inactive_days: number | null
}

/** Days; 0: never. */
export interface InactivityDays {
  readonly guests: number
  readonly accounts: number
}

export type Inactivity = ReturnType<typeof createInactivity>

/** How long files are kept without use: settings, or the account's own days. Null means for ever. */
export function createInactivity(outages: Pick<Outages, 'lifetime'>, days: InactivityDays) {
  const lifetimeOf = (lasts: number) => (lasts === 0 ? null : outages.lifetime(lasts))
  const guests = lifetimeOf(days.guests)
  const accounts = (own: number | null) => lifetimeOf(own ?? days.accounts)
  const of = (holder: FileHolder) => (holder.account_id === GUESTS ? guests : accounts(holder.inactive_days))
  return {
    guests,
    accounts,
    of,
    /** Milliseconds since the epoch. */
    endOf: (file: FileHolder & { readonly last_used_at: number }) =>
      of(file)?.endOf(file.last_used_at) ?? null,
  }
}

const STEP = 100
const PURGE_AFTER = DAY
const PURGE_AT_LEAST = 1000
/** Least age of an account's mark. Clocks of nodes differ by less, and uploads commit sooner. */
const LATEST_MARK = HOUR

export type Expiry = ReturnType<typeof createExpiry>

/** A mark hides unused files at once, reversibly; deletion follows a day later, and only by a trustworthy clock. */
export function createExpiry(parts: {
  db: Database
  cleaning: Cleaning
  usage: Usage
  clock: Clock
  guard: ClockGuard
  outages: Pick<Outages, 'settle'>
  inactivity: Inactivity
}) {
  const { db, cleaning, usage, clock, guard, outages, inactivity } = parts

  /** No use precedes 1970, so a cutoff of 0 matches no file. */
  const endsBefore = (lifetime: Lifetime | null, at: number) => lifetime?.cutoff(at) ?? 0

  /** Searches only accounts that may have such files, so files that never expire cost nothing. */
  async function hideUnused(at: number, mayGoOn: () => boolean): Promise<void> {
    const groups: readonly (readonly [AccountGroup, Lifetime | null])[] = [
      ['guests', inactivity.guests],
      ...[null, ...(await ownInactiveDays(db))].map((days) => [days, inactivity.accounts(days)] as const),
    ]
    for (const [group, lifetime] of groups) {
      if (lifetime === null) continue
      const cutoff = lifetime.cutoff(at)
      while (mayGoOn()) {
        const accounts = await accountsToSearch(db, group, { cutoff, latest: at - LATEST_MARK }, STEP)
        if (accounts.length === 0) break
        const isDone = await inTransaction(db, (trx) => hideStep(trx, accounts, cutoff, at))
        if (!isDone) return
        await yieldToEventLoop()
      }
    }
  }

  /** Returns false, and changes nothing, once the clock was set back: what came since would seem to have ended before `at`. */
  async function hideStep(
    trx: Trx,
    accounts: readonly AccountId[],
    cutoff: number,
    at: number,
  ): Promise<boolean> {
    for (const account of accounts.toSorted((a, b) => a - b)) await lockAccount(trx, account)
    const found = await unusedFiles(trx, accounts, cutoff, STEP)
    if (found.length > 0) {
      // Locked in id order, as counters write them.
      const ids = found.map((file) => file.id)
      const locked = await unusedFiles(trx, accounts, cutoff, STEP, ids)
      const files = (await takeTransferUse(trx, ids))
        ? await unusedFiles(trx, accounts, cutoff, STEP, ids)
        : locked
      if (clock.now() < at) return false
      if (files.length > 0) await markExpired(trx, files, clock.now())
      await noteAll(trx, 'file.removed', files)
    }
    if (clock.now() < at) return false
    if (found.length < STEP) await setUnusedSince(trx, accounts, at - LATEST_MARK)
    return true
  }

  async function bringBack(at: number, mayGoOn: () => boolean): Promise<void> {
    for (const holder of await expiredHolders(db)) {
      const cutoff = endsBefore(inactivity.of(holder), at)
      if (holder.latest < cutoff) continue
      while (mayGoOn()) {
        const restored = await inTransaction(db, (trx) => restoreStep(trx, holder.account_id, cutoff))
        if (restored < STEP) break
        await yieldToEventLoop()
      }
    }
  }

  async function restoreStep(trx: Trx, account: AccountId, cutoff: number): Promise<number> {
    await lockAccount(trx, account)
    const found = await wronglyExpired(trx, account, cutoff, STEP)
    if (found.length === 0) return 0
    const ids = found.map((file) => file.id)
    const alive = await markAlive(trx, await wronglyExpired(trx, account, cutoff, STEP, ids))
    await noteAll(trx, 'file.added', alive)
    return alive.length
  }

  return {
    /** Hides what is due, and restores what a wrong clock had hidden. */
    async mark(mayGoOn: () => boolean = () => true) {
      guard.agreedFor()
      // Includes uses not written yet.
      await usage.flush()
      // A leap of the clock is recorded, and added to every file's time, before it can hide one.
      const at = await outages.settle()
      await hideUnused(at, mayGoOn)
      await bringBack(at, mayGoOn)
    },

    /** Deletes files hidden at least a day ago: per call 1,000 or 1 %, whichever is more. */
    async purge(mayGoOn: () => boolean = () => true) {
      if (guard.agreedFor() < PURGE_AFTER) return
      const now = await outages.settle()
      const markedBefore = now - PURGE_AFTER
      const most = Math.max(PURGE_AT_LEAST, Math.floor((await countLiveFiles(db)) / 100))
      const files: FileId[] = []
      let last: ExpiredFile | null = null
      while (files.length < most) {
        const page: ExpiredFile[] = await expiredFiles(db, markedBefore, last, PURGE_AT_LEAST)
        const ended = page.filter((file) => file.last_used_at < endsBefore(inactivity.of(file), now))
        files.push(...ended.slice(0, most - files.length).map(({ id }) => id))
        last = page.at(-1) ?? null
        if (page.length < PURGE_AT_LEAST) break
        await yieldToEventLoop()
      }
      await cleaning.purge(files, mayGoOn)
    },
  }
}

async function noteAll(
  trx: Trx,
  kind: 'file.added' | 'file.removed',
  files: readonly RemovableFile[],
): Promise<void> {
  for (const { id, account_id, folder_id } of files) {
    await noteChange(trx, account_id, { kind, file: id, place: folder_id })
  }
}

/** Files binned with a folder get the bin's mark instead: they do not expire. */
async function markExpired(trx: Trx, files: readonly RemovableFile[], at: number): Promise<void> {
  const binned = await foldersInBin(trx, files)
  const expired = files.filter((file) => !binned.has(file.folder_id))
  const along = files.filter((file) => binned.has(file.folder_id))
  if (expired.length > 0) await markRemoved(trx, expired, 'expired', at)
  if (along.length > 0) await setRemoved(trx, along, 'folder binned', at)
  // The folder's mark lets a restoration find them.
  for (const [folder, entry] of binned) await markAlong(trx, folder, entry, at)
}

/** Leaves files in the bin; returns the unmarked ones. */
async function markAlive(trx: Trx, files: readonly RemovableFile[]): Promise<RemovableFile[]> {
  const binned = await foldersInBin(trx, files)
  const alive = files.filter((file) => !binned.has(file.folder_id))
  if (alive.length === 0) return alive
  await setRemoved(trx, alive, null, 0)
  await adjustTotals(trx, alive, 1)
  await lookAgain(trx, new Set(alive.map((file) => file.account_id)))
  return alive
}

async function foldersInBin(
  trx: Trx,
  files: readonly RemovableFile[],
): Promise<ReadonlyMap<FolderId, BinEntryId>> {
  const binned = new Map<FolderId, BinEntryId>()
  for (const folder of new Set(files.map((file) => file.folder_id))) {
    const deleted = (await folderChain(trx, folder)).filter((step) => step.deleted_at !== null)
    const entry = deleted.at(-1)?.bin_id ?? null
    if (entry !== null) binned.set(folder, entry)
  }
  return binned
}

/** By the accounts' own days; null for accounts without. */
export type AccountGroup = 'guests' | number | null

/** Excludes accounts whose files never expire. */
export async function ownInactiveDays(db: Database): Promise<number[]> {
  const rows = await db
    .selectFrom('accounts')
    .select('inactive_days')
    .distinct()
    .where('inactive_days', '>', 0)
    .execute()
  return rows.flatMap(({ inactive_days: days }) => (days === null ? [] : [days]))
}

/** Accounts with files last used before `cutoff`, or marked after `latest` by a clock that was ahead. */
export async function accountsToSearch(
  db: Database,
  group: AccountGroup,
  { cutoff, latest }: { readonly cutoff: number; readonly latest: number },
  limit: number,
): Promise<AccountId[]> {
  const found: AccountId[] = []
  for (const [is, mark] of [
    ['<', cutoff],
    ['>', latest],
  ] as const) {
    const rows = await accountsByMark(db, group, is, mark, limit).execute()
    found.push(...rows.map(({ id }) => id))
  }
  return found
}

export function accountsByMark(
  db: Database,
  group: AccountGroup,
  is: '<' | '>',
  mark: number,
  limit: number,
) {
  const accounts = db
    .selectFrom('accounts')
    .select('id')
    .where('unused_since', is, mark)
    .orderBy('unused_since')
    .limit(limit)
  if (group === 'guests') return accounts.where('id', '=', GUESTS)
  // "is not distinct from" would not use the index on PostgreSQL.
  const days = accounts.where('inactive_days', group === null ? 'is' : '=', group)
  return days.where('id', '<>', GUESTS)
}

/** Sets at most `latest`: later files are used later. */
async function setUnusedSince(trx: Trx, accounts: readonly AccountId[], latest: number): Promise<void> {
  await trx
    .updateTable('accounts')
    .set(({ fn, selectFrom, val }) => ({
      unused_since: fn.coalesce(
        selectFrom('files')
          .select('files.last_used_at')
          .whereRef('files.account_id', '=', 'accounts.id')
          .where('files.removed_at', 'is', null)
          .where('files.last_used_at', '<', latest)
          .orderBy('files.last_used_at')
          .limit(sql.lit(1))
          .$asScalar(),
        val(latest),
      ),
    }))
    .where('id', 'in', accounts)
    .execute()
}

async function lookAgain(trx: Trx, accounts: ReadonlySet<AccountId>): Promise<void> {
  await trx
    .updateTable('accounts')
    .set({ unused_since: 0 })
    .where('id', 'in', [...accounts])
    .execute()
}

/** With `among`: only those, locked. */
function unusedFiles(
  trx: Trx,
  accounts: readonly AccountId[],
  cutoff: number,
  limit: number,
  among?: readonly FileId[],
): Promise<RemovableFile[]> {
  if (among === undefined) return firstUnused(trx, accounts, cutoff, limit).execute()
  return lockedAmong(trx, filesUnused(trx, accounts, cutoff), among)
}

function filesUnused(db: Queryable, accounts: readonly AccountId[], cutoff: number) {
  return db
    .selectFrom('files')
    .select(removableColumns)
    .where('account_id', 'in', accounts)
    .where('removed_at', 'is', null)
    .where('last_used_at', '<', cutoff)
}

/** In index order: PostgreSQL would otherwise read the whole table. */
export function firstUnused(db: Queryable, accounts: readonly AccountId[], cutoff: number, limit: number) {
  return filesUnused(db, accounts, cutoff).orderBy('account_id').orderBy('last_used_at').limit(limit)
}

function lockedAmong(
  trx: Trx,
  files: SelectQueryBuilder<Tables, 'files', RemovableFile>,
  ids: readonly FileId[],
): Promise<RemovableFile[]> {
  return files.where('id', 'in', ids).orderBy('id').modifyEnd(forUpdate(trx)).execute()
}

interface ExpiredHolder extends FileHolder {
  readonly latest: number
}

/** Costs a few reads per account, for any number of files. */
async function expiredHolders(db: Database): Promise<ExpiredHolder[]> {
  return (await expiredHoldersQuery().execute(db)).rows
}

export function expiredHoldersQuery() {
  const expired = sql`files.removal = 'expired' and files.removed_at is not null`
  return sql<ExpiredHolder>`
    with recursive holders (id) as (
      select min(files.account_id) from files where ${expired}
      union all
      select (select min(files.account_id) from files where ${expired} and files.account_id > holders.id)
      from holders where holders.id is not null
    )
    select holders.id as account_id, accounts.inactive_days as inactive_days,
      (select max(files.last_used_at) from files where ${expired} and files.account_id = holders.id) as latest
    from holders join accounts on accounts.id = holders.id`
}

/** The clock was wrong, the days were raised, or a use was recorded. Binned ones wait for their folder. */
function wronglyExpired(
  trx: Trx,
  account: AccountId,
  cutoff: number,
  limit: number,
  among?: readonly FileId[],
): Promise<RemovableFile[]> {
  const wrong = trx
    .selectFrom('files')
    .select(removableColumns)
    .where('account_id', '=', account)
    .where('removed_at', 'is not', null)
    .where('removal', '=', sql.lit('expired'))
    .where('last_used_at', '>=', cutoff)
    .where((file) =>
      file.not(
        file.exists(
          file
            .selectFrom('folders')
            .select('folders.id')
            .whereRef('folders.id', '=', 'files.folder_id')
            .where('folders.bin_id', 'is not', null),
        ),
      ),
    )
  return among === undefined ? wrong.limit(limit).execute() : lockedAmong(trx, wrong, among)
}

interface ExpiredFile extends FileHolder {
  readonly id: FileId
  readonly last_used_at: number
}

/** Marked no later than `markedBefore`, longest unused first, after `after`. */
function expiredFiles(
  db: Database,
  markedBefore: number,
  after: Pick<ExpiredFile, 'id' | 'last_used_at'> | null,
  limit: number,
): Promise<ExpiredFile[]> {
  const expired = db
    .selectFrom('files')
    .innerJoin('accounts', 'accounts.id', 'files.account_id')
    .select(['files.id', 'files.account_id', 'files.last_used_at', 'accounts.inactive_days'])
    .where('files.removed_at', '<=', markedBefore)
    .where('files.removal', '=', 'expired')
  const rest =
    after === null
      ? expired
      : expired.where((row) =>
          row(row.refTuple('files.last_used_at', 'files.id'), '>', row.tuple(after.last_used_at, after.id)),
        )
  return rest.orderBy('files.last_used_at').orderBy('files.id').limit(limit).execute()
}

export async function countLiveFiles(db: Database): Promise<number> {
  const row = await db
    .selectFrom('accounts')
    .select(wholeSum(db, 'files_count').as('files'))
    .executeTakeFirstOrThrow()
  return row.files
}

import { sql } from 'kysely'
import type { AccountId, FileId, FileWarningId, Sha256 } from '../domain/ids.ts'
import { besideRequests } from './beside.ts'
import type { Db } from './schema.ts'

/** Files of an account, last used after the one moment and until the other. */
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

function unusedFiles(db: Db, { account_id, used_after, used_until }: UnusedFiles) {
  return db
    .selectFrom('files')
    .where('account_id', '=', account_id)
    .where('last_used_at', '>', used_after)
    .where('last_used_at', '<=', used_until)
}

const liveUnused = (db: Db, files: UnusedFiles) => unusedFiles(db, files).where('removed_at', 'is', null)

/** Those that are hidden already, and not gone for good yet. */
const expiredUnused = (db: Db, files: UnusedFiles) =>
  unusedFiles(db, files).where('removed_at', 'is not', null).where('removal', '=', sql.lit('expired'))

/** Live ones that were not used for the longest time. */
export function longestUnused(
  db: Db,
  files: UnusedFiles,
  limit: number,
): Promise<{ id: FileId; name: string; last_used_at: number }[]> {
  return liveUnused(db, files)
    .select(['id', 'name', 'last_used_at'])
    .orderBy('last_used_at')
    .limit(limit)
    .execute()
}

export function countUnused(db: Db, files: UnusedFiles): Promise<number> {
  return countOf(db, liveUnused(db, files))
}

/** Live ones, and those that are hidden already. */
export async function countToKeep(db: Db, files: UnusedFiles): Promise<number> {
  return (await countUnused(db, files)) + (await countOf(db, expiredUnused(db, files)))
}

async function countOf(db: Db, files: ReturnType<typeof unusedFiles>): Promise<number> {
  const [row] = await besideRequests(
    db,
    files.select(({ fn }) => fn.countAll<number>().as('count')),
  )
  return Number(row?.count ?? 0)
}

/** Of what is counted so at most `limit`: the hidden ones, then those that would go first. */
export async function longestToKeep(db: Db, files: UnusedFiles, limit: number): Promise<FileId[]> {
  // Those of all accounts lie together.
  const hidden = await besideRequests(
    db,
    expiredUnused(db, files).select('id').orderBy('last_used_at').limit(limit),
  )
  const live = hidden.length < limit ? await longestUnused(db, files, limit - hidden.length) : []
  return [...hidden, ...live].map(({ id }) => id)
}

export async function insertFileWarning(
  trx: Db,
  warning: UnusedFiles & { readonly token_hash: Sha256; readonly warned_at: number },
): Promise<void> {
  await trx.insertInto('file_warnings').values(warning).execute()
}

export function findFileWarning(db: Db, hash: Sha256): Promise<FileWarningRow | undefined> {
  return db.selectFrom('file_warnings').select(columns).where('token_hash', '=', hash).executeTakeFirst()
}

/** A warning whose files are to be kept, and may not all be yet. */
export function nextKept(db: Db): Promise<FileWarningRow | undefined> {
  return db
    .selectFrom('file_warnings')
    .select(columns)
    .where('kept_at', 'is not', null)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}

/** `at`: since when its files are to be kept. Null: all are. */
export async function setKept(db: Db, id: FileWarningId, at: number | null): Promise<void> {
  await db.updateTable('file_warnings').set({ kept_at: at }).where('id', '=', id).execute()
}

/** Removes warnings of that age; returns how many. */
export async function dropFileWarnings(db: Db, before: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('file_warnings')
    .where('warned_at', '<', before)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

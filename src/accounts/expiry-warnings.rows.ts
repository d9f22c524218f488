import { sql } from 'kysely'
import type { Database, Trx } from '../database/database.ts'
import type { AccountId, FileId, FileWarningId, Sha256 } from '../domain/ids.ts'

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

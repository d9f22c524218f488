import { sql } from 'kysely'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { preparedRows } from '../database/prepared.ts'
import type { Row } from '../database/schema.ts'
import type { BlobId, FileId, Sha256 } from '../domain/ids.ts'

export type RefusedContentRow = Row<'refused_contents'>

/** Whether one of them is. Call `lockContent` before in the transaction. */
export async function isRefused(db: Queryable, ...contents: readonly Sha256[]): Promise<boolean> {
  const rows = contents.map((sha256) => ({ sha256 }))
  return (await refusedAmong(db, rows)).length > 0
}

const refusedAmong = preparedRows((db, contents: readonly { readonly sha256: Sha256 }[]) =>
  db
    .selectFrom('refused_contents')
    .select('sha256')
    .where(
      'sha256',
      'in',
      contents.map(({ sha256 }) => sha256),
    ),
)

/** Repeating it searches the files once more. */
export async function refuseContent(trx: Trx, sha256: Sha256, at: number): Promise<void> {
  await trx
    .insertInto('refused_contents')
    .values({ sha256, refused_at: at })
    .onConflict((conflict) => conflict.column('sha256').doUpdateSet({ cleared: 0 }))
    .execute()
}

/** False when it was not refused. */
export async function allowContent(trx: Trx, sha256: Sha256): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('refused_contents')
    .where('sha256', '=', sha256)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Newest first. */
export function listRefused(db: Database, offset: number, limit: number): Promise<RefusedContentRow[]> {
  const all = db.selectFrom('refused_contents').selectAll()
  const page = all.orderBy('refused_at', 'desc').orderBy('sha256', 'desc').limit(limit).offset(offset)
  return db.readPool.rows(page)
}

export async function countRefused(db: Database): Promise<number> {
  const all = db.selectFrom('refused_contents').select((row) => row.fn.countAll<number>().as('count'))
  return (await db.readPool.rows(all))[0]?.count ?? 0
}

/** Files may be gone already. Returns the first content after `after`. */
export async function refusedToClear(db: Database, after: Sha256 | null): Promise<Sha256 | undefined> {
  const first = db
    .selectFrom('refused_contents')
    .select('sha256')
    .where('cleared', '=', sql.lit(0))
    .orderBy('sha256')
    .limit(1)
  const row = await (after === null ? first : first.where('sha256', '>', after)).executeTakeFirst()
  return row?.sha256
}

export async function setCleared(db: Queryable, sha256: Sha256): Promise<void> {
  await db.updateTable('refused_contents').set({ cleared: 1 }).where('sha256', '=', sha256).execute()
}

export async function countTakenDown(trx: Trx, sha256: Sha256, files: number): Promise<void> {
  await trx
    .updateTable('refused_contents')
    .set((row) => ({ files: row('files', '+', files) }))
    .where('sha256', '=', sha256)
    .execute()
}

export type FileOfContent = Row<'files', 'id' | 'account_id' | 'folder_id' | 'size' | 'removal'>

/** Usually one, more only for contents with equal hashes. */
export async function blobsOf(db: Database, sha256: Sha256): Promise<BlobId[]> {
  const rows = await db.selectFrom('blobs').select('id').where('sha256', '=', sha256).execute()
  return rows.map((row) => row.id)
}

/** Oldest first, after the given one, at most `limit`; excludes finally deleted ones. */
export function filesOfBlob(
  db: Database,
  blob: BlobId,
  after: FileId,
  limit: number,
): Promise<FileOfContent[]> {
  return notDeleted(db)
    .where('blob_id', '=', blob)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** At most `limit`. */
export async function deletedFilesOfBlob(trx: Trx, blob: BlobId, limit: number): Promise<FileId[]> {
  const rows = await trx
    .selectFrom('files')
    .select('id')
    .where('blob_id', '=', blob)
    .where('removed_at', 'is not', null)
    .where('removal', '=', 'deleted')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

/** Call under their account's lock. */
export function filesToTakeDown(trx: Trx, ids: readonly FileId[]): Promise<FileOfContent[]> {
  return notDeleted(trx).where('id', 'in', ids).execute()
}

function notDeleted(db: Queryable) {
  return db
    .selectFrom('files')
    .select(['id', 'account_id', 'folder_id', 'size', 'removal'])
    .where((file) => file.or([file('removal', 'is', null), file('removal', '<>', sql.lit('deleted'))]))
}

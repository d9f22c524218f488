/**
 * Blobs that a relocation has verified in the new store: a resumed one need not read them again. The table exists only
 * during a relocation, in the database that will reference the blobs; it is not part of the schema.
 */
import { sql } from 'kysely'
import type { Database, Trx } from '../../database/database.ts'
import { wholeSum } from '../../database/differences.ts'
import type { Row } from '../../database/schema.ts'
import type { BlobId, BlobKey } from '../../domain/ids.ts'

type WithRelocated = { relocated_blobs: { key: BlobKey } }

export type BlobToMove = Row<'blobs', 'id' | 'key' | 'sha256' | 'size'>

export async function makeRelocatedBlobs(trx: Trx): Promise<void> {
  await trx.schema
    .createTable('relocated_blobs')
    .ifNotExists()
    .addColumn('key', 'text', (column) => column.primaryKey())
    .execute()
}

export async function rememberAllBlobs(db: Database): Promise<void> {
  await sql`insert into relocated_blobs (key) select key from blobs`.execute(db)
}

export async function dropRelocatedBlobs(trx: Trx): Promise<void> {
  await trx.schema.dropTable('relocated_blobs').ifExists().execute()
}

export async function rememberRelocated(db: Database, keys: readonly BlobKey[]): Promise<void> {
  if (keys.length === 0) return
  await db
    .withTables<WithRelocated>()
    .insertInto('relocated_blobs')
    .values(keys.map((key) => ({ key })))
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
}

export async function forgetRelocated(db: Database, keys: readonly BlobKey[]): Promise<void> {
  for (const key of keys) {
    await db.withTables<WithRelocated>().deleteFrom('relocated_blobs').where('key', '=', key).execute()
  }
}

export async function relocatedAmong(db: Database, keys: readonly BlobKey[]): Promise<Set<BlobKey>> {
  if (keys.length === 0) return new Set()
  const rows = await db
    .withTables<WithRelocated>()
    .selectFrom('relocated_blobs')
    .select('key')
    .where('key', 'in', keys)
    .execute()
  return new Set(rows.map((row) => row.key))
}

export async function blobsNotRelocated(
  db: Database,
  after: BlobKey | null,
  limit: number,
): Promise<BlobKey[]> {
  const rows = await db
    .withTables<WithRelocated>()
    .selectFrom('blobs')
    .leftJoin('relocated_blobs', 'relocated_blobs.key', 'blobs.key')
    .select('blobs.key')
    .where('relocated_blobs.key', 'is', null)
    .$if(after !== null, (query) => query.where('blobs.key', '>', after))
    .orderBy('blobs.key')
    .limit(limit)
    .execute()
  return rows.map((row) => row.key)
}

export function blobsToMove(db: Database, after: BlobId | null, limit: number): Promise<BlobToMove[]> {
  return db
    .selectFrom('blobs')
    .select(['id', 'key', 'sha256', 'size'])
    .$if(after !== null, (query) => query.where('id', '>', after))
    .orderBy('id')
    .limit(limit)
    .execute()
}

export function sumOfBlobs(db: Database): Promise<{ count: number; bytes: number }> {
  return db
    .selectFrom('blobs')
    .select((row) => [row.fn.countAll<number>().as('count'), wholeSum(db, 'size').as('bytes')])
    .executeTakeFirstOrThrow()
}

export async function blobsAmong(db: Database, keys: readonly BlobKey[]): Promise<Set<BlobKey>> {
  if (keys.length === 0) return new Set()
  const rows = await db.selectFrom('blobs').select('key').where('key', 'in', keys).execute()
  return new Set(rows.map((row) => row.key))
}

export interface FileOfBlob {
  readonly slug: string
  readonly name: string
  readonly username: string
  readonly isRemoved: boolean
}

export async function relocatedFilesOfBlob(db: Database, blob: BlobId): Promise<FileOfBlob[]> {
  const rows = await db
    .selectFrom('files')
    .innerJoin('accounts', 'accounts.id', 'files.account_id')
    .select(['files.slug', 'files.name', 'accounts.username', 'files.removed_at'])
    .where('files.blob_id', '=', blob)
    .orderBy('files.id')
    .execute()
  return rows.map(({ slug, name, username, removed_at }) => ({
    slug,
    name,
    username,
    isRemoved: removed_at !== null,
  }))
}

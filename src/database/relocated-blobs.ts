/**
 * Which blobs a relocation has found whole in the new store, so that one which was interrupted need not read them
 * again. The table stands in the database that will speak of them, for as long as the relocation lasts; it is no part
 * of the schema.
 */
import type { BlobId, BlobKey, Sha256 } from '../domain/ids.ts'
import { wholeSum } from './differences.ts'
import type { Db } from './schema.ts'

type WithRelocated = { relocated_blobs: { key: BlobKey } }

/** What a blob has to be. */
export interface BlobToMove {
  readonly id: BlobId
  readonly key: BlobKey
  readonly sha256: Sha256
  readonly size: number
}

export async function makeRelocatedBlobs(trx: Db): Promise<void> {
  await trx.schema
    .createTable('relocated_blobs')
    .ifNotExists()
    .addColumn('key', 'text', (column) => column.primaryKey())
    .execute()
}

export async function dropRelocatedBlobs(trx: Db): Promise<void> {
  await trx.schema.dropTable('relocated_blobs').ifExists().execute()
}

export async function rememberRelocated(db: Db, keys: readonly BlobKey[]): Promise<void> {
  if (keys.length === 0) return
  await db
    .withTables<WithRelocated>()
    .insertInto('relocated_blobs')
    .values(keys.map((key) => ({ key })))
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
}

/** Those of the keys that are remembered. */
export async function relocatedAmong(db: Db, keys: readonly BlobKey[]): Promise<Set<BlobKey>> {
  if (keys.length === 0) return new Set()
  const rows = await db
    .withTables<WithRelocated>()
    .selectFrom('relocated_blobs')
    .select('key')
    .where('key', 'in', keys)
    .execute()
  return new Set(rows.map((row) => row.key))
}

/** Up to `limit` keys of blobs, in order and after the key given, that are not remembered. */
export async function blobsNotRelocated(db: Db, after: BlobKey | null, limit: number): Promise<BlobKey[]> {
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

/** Up to `limit` blobs in the order of their ids, after the one given. */
export function blobsToMove(db: Db, after: BlobId | null, limit: number): Promise<BlobToMove[]> {
  return db
    .selectFrom('blobs')
    .select(['id', 'key', 'sha256', 'size'])
    .$if(after !== null, (query) => query.where('id', '>', after))
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** How many blobs there are, and their bytes together. */
export function sumOfBlobs(db: Db): Promise<{ count: number; bytes: number }> {
  return db
    .selectFrom('blobs')
    .select((row) => [row.fn.countAll<number>().as('count'), wholeSum(db, 'size').as('bytes')])
    .executeTakeFirstOrThrow()
}

/** Those of the keys that some row speaks of. */
export async function blobsAmong(db: Db, keys: readonly BlobKey[]): Promise<Set<BlobKey>> {
  if (keys.length === 0) return new Set()
  const rows = await db.selectFrom('blobs').select('key').where('key', 'in', keys).execute()
  return new Set(rows.map((row) => row.key))
}

export interface FileOfBlob {
  readonly slug: string
  readonly name: string
  readonly username: string
  /** Expired or deleted already, and not purged yet. */
  readonly isRemoved: boolean
}

/** The files whose content the blob is. */
export async function filesOfBlob(db: Db, blob: BlobId): Promise<FileOfBlob[]> {
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

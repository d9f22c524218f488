/**
 * Two tables that exist only during a run and are not part of the schema. `relocated_blobs`: what is verified at the
 * target, in the database that will reference it, so that a resumed run need not read it again. `listed_blobs`: what a
 * store lists.
 */
import { sql } from 'kysely'
import type { Database, Trx } from '../database/database.ts'
import type { Row } from '../database/schema.ts'
import { type BlobId, type BlobKey, GUESTS } from '../domain/ids.ts'

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

export async function liveFiles(db: Database): Promise<number> {
  const { count } = await db
    .selectFrom('files')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

/** Writes all rows of a SQLite database into one new file, without free pages and WAL. */
export async function writeRows(db: Database, path: string): Promise<void> {
  await sql`vacuum into ${path}`.execute(db)
}

interface ListedRow {
  readonly key: BlobKey
  readonly size: number | null
}

type WithListed = { listed_blobs: ListedRow }

export async function makeListed(db: Database): Promise<void> {
  await sql`create table listed_blobs (key text primary key, size integer) without rowid`.execute(db)
}

export async function addListed(db: Database, rows: readonly ListedRow[]): Promise<void> {
  if (rows.length === 0) return
  await db
    .withTables<WithListed>()
    .insertInto('listed_blobs')
    .values(rows.map(({ key, size }) => ({ key, size: Number.isInteger(size) ? size : null })))
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet(({ fn, ref }) => ({
        size: fn.coalesce(ref('excluded.size'), ref('listed_blobs.size')),
      })),
    )
    .execute()
}

export async function dropListed(db: Database, keys: readonly BlobKey[]): Promise<void> {
  if (keys.length === 0) return
  await db.withTables<WithListed>().deleteFrom('listed_blobs').where('key', 'in', keys).execute()
}

export async function listedKeys(db: Database, limit: number): Promise<BlobKey[]> {
  const rows = await db
    .withTables<WithListed>()
    .selectFrom('listed_blobs')
    .select('key')
    .limit(limit)
    .execute()
  return rows.map(({ key }) => key)
}

/** Forgets contents of `blobs` that are listed with another size, or with none. */
export async function forgetUnlikeListed(db: Database): Promise<void> {
  await sql`
    delete from relocated_blobs where key in (
      select listed_blobs.key from listed_blobs join blobs on blobs.key = listed_blobs.key
      where listed_blobs.size is not blobs.size)`.execute(db)
}

export async function addCopied(db: Database): Promise<void> {
  await sql`insert or replace into listed_blobs (key, size) select key, null from relocated_blobs`.execute(db)
}

export async function listedAmong(
  db: Database,
  keys: readonly BlobKey[],
): Promise<ReadonlyMap<BlobKey, number | null>> {
  const rows = await db
    .withTables<WithListed>()
    .selectFrom('listed_blobs')
    .select(['key', 'size'])
    .where('key', 'in', keys)
    .execute()
  return new Map(rows.map(({ key, size }) => [key, size]))
}

export async function sortedKeys(db: Database, after: BlobKey | null, limit: number): Promise<BlobKey[]> {
  const rows = await db
    .selectFrom('blobs')
    .select('key')
    .$if(after !== null, (query) => query.where('key', '>', after))
    .orderBy('key')
    .limit(limit)
    .execute()
  return rows.map(({ key }) => key)
}

export interface SampledFile {
  readonly slug: string
  readonly name: string
  readonly owner: string
  readonly isGuests: boolean
  readonly size: number
  readonly sha256: string
}

/** A random sample of live files of accounts that are not disabled. */
export async function sampleOfFiles(db: Database, most: number): Promise<SampledFile[]> {
  const rows = await db
    .selectFrom('files')
    .innerJoin('blobs', 'blobs.id', 'files.blob_id')
    .innerJoin('accounts', 'accounts.id', 'files.account_id')
    .select(['files.slug', 'files.name', 'files.size', 'blobs.sha256', 'accounts.username', 'accounts.id'])
    .where('files.removed_at', 'is', null)
    .where('accounts.disabled_at', 'is', null)
    .where('accounts.removed_at', 'is', null)
    .orderBy(sql`random()`)
    .limit(most)
    .execute()
  return rows.map(({ username, id, ...file }) => ({ ...file, owner: username, isGuests: id === GUESTS }))
}

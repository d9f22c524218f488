import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { type BlobKey, GUESTS, isBlobKey } from '../../domain/ids.ts'

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

interface Listed {
  readonly key: BlobKey
  readonly size: number | null
}

type WithListed = { listed_blobs: Listed }

export async function makeListed(
  db: Database,
  listed: AsyncIterable<{ readonly key: BlobKey; readonly size: number }>,
): Promise<void> {
  await sql`create table listed_blobs (key text primary key, size integer) without rowid`.execute(db)
  const rows: Listed[] = []
  for await (const { key, size } of listed) {
    rows.push({ key, size: Number.isInteger(size) ? size : null })
    if (rows.length === BATCH) await addListed(db, rows.splice(0))
  }
  await addListed(db, rows)
}

export async function addListed(db: Database, rows: readonly Listed[]): Promise<void> {
  if (rows.length === 0) return
  await db
    .withTables<WithListed>()
    .insertInto('listed_blobs')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
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

const BATCH = 1000

/** In batches, ordered by key. Throws for a key that could name another object in a store. */
export async function* contentKeys(db: Database) {
  let after: BlobKey | null = null
  for (;;) {
    const rows: { key: BlobKey }[] = await sortedKeys(db, after)
    const last = rows.at(-1)
    if (last === undefined) return
    const wrong = rows.find(({ key }) => !isBlobKey(key))
    if (wrong !== undefined) throw new Error(`the backup names a content ${JSON.stringify(wrong.key)}`)
    yield rows.map(({ key }) => key)
    after = last.key
  }
}

function sortedKeys(db: Database, after: BlobKey | null) {
  return db
    .selectFrom('blobs')
    .select('key')
    .$if(after !== null, (query) => query.where('key', '>', after))
    .orderBy('key')
    .limit(BATCH)
    .execute()
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

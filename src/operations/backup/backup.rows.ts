import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { type BlobKey, GUESTS, isBlobKey } from '../../domain/ids.ts'

/** Number of files that are neither expired nor deleted. */
export async function liveFiles(db: Database): Promise<number> {
  const { count } = await db
    .selectFrom('files')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

/** Writes all rows of a SQLite database into one new file, without the space and the log that it has besides. */
export async function writeRows(db: Database, path: string): Promise<void> {
  await sql`vacuum into ${path}`.execute(db)
}

type WithListed = { listed_blobs: { key: BlobKey } }

/** Remembers what a store lists. */
export async function makeListed(db: Database, listed: AsyncIterable<BlobKey>): Promise<void> {
  await sql`create table listed_blobs (key text primary key) without rowid`.execute(db)
  const keys: BlobKey[] = []
  const add = async () => {
    if (keys.length === 0) return
    await db
      .withTables<WithListed>()
      .insertInto('listed_blobs')
      .values(keys.splice(0).map((key) => ({ key })))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  for await (const key of listed) if (keys.push(key) === BATCH) await add()
  await add()
}

/** Adds what was copied since to what the store lists. */
export async function addCopied(db: Database): Promise<void> {
  await sql`insert or ignore into listed_blobs select key from relocated_blobs`.execute(db)
}

/** The subset of the keys that the store lists. */
export async function listedAmong(db: Database, keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>> {
  const rows = await db
    .withTables<WithListed>()
    .selectFrom('listed_blobs')
    .select('key')
    .where('key', 'in', keys)
    .execute()
  return new Set(rows.map(({ key }) => key))
}

const BATCH = 1000

/** Every key of a content, in batches in order. Throws for one that could name something else in a store. */
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

/** A file to be read back. */
export interface SampledFile {
  readonly slug: string
  readonly name: string
  readonly owner: string
  readonly isGuests: boolean
  readonly size: number
  readonly sha256: string
}

/** Live files by chance, of accounts that are not disabled. */
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

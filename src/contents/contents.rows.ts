import { type SqlBool, sql } from 'kysely'
import { IS_UNMARKED, presentDamage } from '../core/damage.rows.ts'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { forUpdate, wholeSum } from '../database/differences.ts'
import type { Damage, Row } from '../database/schema.ts'
import type { AccountId, BlobId, BlobKey, Slug } from '../domain/ids.ts'

export interface BlobRow extends Row<'blobs', 'id' | 'key' | 'size' | 'sha256' | 'refs'> {
  readonly damage: Damage | null
  readonly files: number
}

export function contentsAfter(db: Database, id: BlobId | null, limit: number): Promise<BlobRow[]> {
  const contents = contentRows(db).orderBy('blobs.id').limit(limit)
  return (id === null ? contents : contents.where('blobs.id', '>', id)).execute()
}

export function findContent(db: Queryable, id: BlobId): Promise<BlobRow | undefined> {
  return contentRows(db).where('blobs.id', '=', id).executeTakeFirst()
}

function contentRows(db: Queryable) {
  return db
    .selectFrom('blobs')
    .select(['blobs.id', 'blobs.key', 'blobs.size', 'blobs.sha256', 'blobs.refs'])
    .select((row) => [
      presentDamage(row).as('damage'),
      row
        .selectFrom('files')
        .select((files) => files.fn.countAll<number>().as('files'))
        .whereRef('files.blob_id', '=', 'blobs.id')
        .$asScalar()
        .$notNull()
        .as('files'),
    ])
}

const OTHERS = 8

/** Up to eight from all over the database, neither empty nor marked. `key`: in the store, or in the mirror. */
export async function otherContents(
  db: Database,
  than: BlobId,
  where: 'key' | 'mirrored_key',
): Promise<{ readonly key: BlobKey; readonly size: number }[]> {
  const last = await db
    .selectFrom('blobs')
    .select(({ fn }) => fn.max<number | null>('id').as('id'))
    .executeTakeFirst()
  const found = new Map<BlobKey, number>()
  for (let step = 0; step < OTHERS; step++) {
    const other = await db
      .selectFrom('blobs')
      .select((row) => [row.ref(where).$castTo<BlobKey>().as('key'), 'size'])
      .where('id', '>=', Math.floor(((last?.id ?? 0) * step) / OTHERS) as BlobId)
      .where('id', '<>', than)
      .where('size', '>', 0)
      .where(where, 'is not', null)
      .$if(where === 'key', (query) => query.where(IS_UNMARKED))
      .orderBy('id')
      .limit(1)
      .executeTakeFirst()
    if (other !== undefined) found.set(other.key, other.size)
  }
  return [...found].map(([key, size]) => ({ key, size }))
}

export function contentTotals(db: Database): Promise<{ count: number; bytes: number }> {
  return db
    .selectFrom('blobs')
    .select((row) => [row.fn.countAll<number>().as('count'), wholeSum(db, 'size').as('bytes')])
    .executeTakeFirstOrThrow()
}

export interface AffectedFile {
  readonly slug: Slug
  readonly name: string
  readonly owner: string
}

export function filesWith(db: Database, content: BlobId, limit: number): Promise<AffectedFile[]> {
  return db
    .selectFrom('files')
    .innerJoin('accounts', 'accounts.id', 'files.account_id')
    .select(['files.slug', 'files.name', 'accounts.username as owner'])
    .where('files.blob_id', '=', content)
    .orderBy('files.id')
    .limit(limit)
    .execute()
}

export async function knownKeys(db: Database, keys: readonly BlobKey[]): Promise<Set<BlobKey>> {
  if (keys.length === 0) return new Set()
  const rows = await db
    .selectFrom('blobs')
    .select('key')
    .where('key', 'in', keys)
    .unionAll(db.selectFrom('blob_garbage').select('key').where('key', 'in', keys))
    .unionAll(db.selectFrom('reservations').select('key').where('key', 'in', keys))
    .unionAll(db.selectFrom('uploads').select('key').where('key', 'in', keys))
    .unionAll(
      db
        .selectFrom('thumbnails')
        .select((row) => row.ref('key').$notNull().as('key'))
        .where('key', 'in', keys),
    )
    .execute()
  return new Set(rows.map(({ key }) => key))
}

export interface AccountSums {
  readonly id: AccountId
  readonly username: string
  readonly storage_used: number
  readonly files_count: number
  readonly folders_count: number
  readonly bin_bytes: number
  readonly bin_entries: number
  /** Sums over the rows of its files, without the bin. */
  readonly bytes: number
  readonly files: number
  readonly folders: number
  /** Sums over its bin, without entries deleted for good. */
  readonly binned_bytes: number
  readonly binned_entries: number
  readonly restoring: number
  /** Deleted folders still being cleared: no longer counted, but their rows exist. */
  readonly clearing: number
}

/** In the order of ids, after `id`. Sums and rows are one snapshot. */
export function accountSumsAfter(db: Database, id: AccountId | null, limit: number): Promise<AccountSums[]> {
  const accounts = sumsOfAccounts(db).orderBy('accounts.id').limit(limit)
  return (id === null ? accounts : accounts.where('accounts.id', '>', id)).execute()
}

export function findAccountSums(db: Queryable, id: AccountId): Promise<AccountSums | undefined> {
  return sumsOfAccounts(db).where('accounts.id', '=', id).executeTakeFirst()
}

const IS_KEPT = sql<SqlBool>`bin.account_id = accounts.id
  and (accounts.bin_emptied is null or bin.id > accounts.bin_emptied)`

function sumsOfAccounts(db: Queryable) {
  return db
    .selectFrom('accounts')
    .select(['accounts.id', 'accounts.username', 'accounts.storage_used', 'accounts.files_count'])
    .select(['accounts.folders_count', 'accounts.bin_bytes', 'accounts.bin_entries'])
    .select((row) => [
      row
        .selectFrom('files')
        .select(wholeSum(db, 'size').as('bytes'))
        .whereRef('files.account_id', '=', 'accounts.id')
        .where('removed_at', 'is', null)
        .$asScalar()
        .$notNull()
        .as('bytes'),
      row
        .selectFrom('files')
        .select((files) => files.fn.countAll<number>().as('files'))
        .whereRef('files.account_id', '=', 'accounts.id')
        .where('removed_at', 'is', null)
        .$asScalar()
        .$notNull()
        .as('files'),
      row
        .selectFrom('folders')
        .select((folders) => folders.fn.countAll<number>().as('folders'))
        .whereRef('folders.account_id', '=', 'accounts.id')
        .where('deleted_at', 'is', null)
        .where('parent_id', 'is not', null)
        .$asScalar()
        .$notNull()
        .as('folders'),
      row
        .selectFrom('bin')
        .select(wholeSum(db, 'bytes').as('bytes'))
        .where(IS_KEPT)
        .$asScalar()
        .$notNull()
        .as('binned_bytes'),
      row
        .selectFrom('bin')
        .select((entries) => entries.fn.countAll<number>().as('entries'))
        .where(IS_KEPT)
        .$asScalar()
        .$notNull()
        .as('binned_entries'),
      row
        .selectFrom('bin')
        .select((entries) => entries.fn.countAll<number>().as('restoring'))
        .whereRef('bin.account_id', '=', 'accounts.id')
        .where('restoring', '=', 1)
        .$asScalar()
        .$notNull()
        .as('restoring'),
      row
        .selectFrom('folders')
        .select((folders) => folders.fn.countAll<number>().as('clearing'))
        .whereRef('folders.account_id', '=', 'accounts.id')
        .where('deleted_at', 'is not', null)
        .where('cleared_at', 'is', null)
        .$asScalar()
        .$notNull()
        .as('clearing'),
    ])
}

export async function orphanFolders(db: Database): Promise<number> {
  const { rows } = await sql<{ loose: number }>`
    with recursive reached (id) as (
      select id from folders where parent_id is null
      union
      select folders.id from folders inner join reached on folders.parent_id = reached.id
    )
    select count(*) as loose from folders where id not in (select id from reached)`.execute(db)
  return Number(rows[0]?.loose ?? 0)
}

/** The caller holds the account's lock. */
export async function setAccountSums(trx: Trx, sums: AccountSums): Promise<void> {
  await trx
    .updateTable('accounts')
    .set({
      storage_used: sums.bytes + sums.binned_bytes,
      files_count: sums.files,
      folders_count: sums.folders,
      bin_bytes: sums.binned_bytes,
      bin_entries: sums.binned_entries,
    })
    .where('id', '=', sums.id)
    .execute()
}

/** Locks the content against uploads and removals until the transaction ends. */
export async function lockedContent(trx: Trx, id: BlobId): Promise<BlobRow | undefined> {
  await trx.selectFrom('blobs').select('id').where('id', '=', id).modifyEnd(forUpdate(trx)).execute()
  return findContent(trx, id)
}

export async function setReferences(trx: Trx, id: BlobId, refs: number): Promise<void> {
  await trx.updateTable('blobs').set({ refs }).where('id', '=', id).execute()
}

/** Damage marks and verification times of contents. A mark is void once another copy replaces its own. */
import { type ExpressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Database, isPostgres, type Queryable, type Trx } from '../database/database.ts'
import { forUpdate, wholeSum } from '../database/differences.ts'
import { prepared } from '../database/prepared.ts'
import type { Damage, Tables } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import type { BlobId, BlobKey, Sha256 } from '../domain/ids.ts'
import { discardBlob } from './blobs.rows.ts'

export interface StoredCopy {
  readonly id: BlobId
  readonly key: BlobKey
}

const IS_DAMAGED = sql<SqlBool>`${sql.ref('blobs.damaged_key')} = ${sql.ref('blobs.key')}`

/** `presentDamage is not null`, in a form that the partial index answers. `blobs`: the table's name in the query. */
export function isDamaged(db: Queryable, blobs = 'blobs'): RawBuilder<SqlBool> {
  const [marked, present] = [sql.ref(`${blobs}.damaged_key`), sql.ref(`${blobs}.key`)]
  // PostgreSQL rewrites an equality between collations, and then misses the partial index.
  return isPostgres(db) ? sql`${marked} = any(array[${present}])` : sql`${marked} = ${present}`
}

/** On rows of `blobs`, also joined: damage of the present copy; null if sound. */
export function presentDamage(row: {
  ref: ExpressionBuilder<Tables, 'blobs'>['ref']
  case: ExpressionBuilder<Tables, 'blobs'>['case']
}) {
  return row.case().when(IS_DAMAGED).then(row.ref('blobs.damage')).else(null).end()
}

/**
 * For rows of `files`: the damage of the file's content; null for a sound one. Whether there is any mark is asked once
 * for all rows, so that lists cost no more where there is none.
 */
export function damageOfFile(db: Queryable, file: ExpressionBuilder<Tables, 'files'>) {
  const damage = file
    .selectFrom('blobs')
    .whereRef('blobs.id', '=', 'files.blob_id')
    .where(IS_DAMAGED)
    .select('blobs.damage')
  return sql<Damage | null>`case when exists (
    select 1 from blobs as marked where ${isDamaged(db, 'marked')}
  ) then ${damage} end`
}

export async function isAnyDamaged(db: Queryable): Promise<boolean> {
  return (await anyDamaged(db)).length > 0
}

const anyDamaged = prepared((db) =>
  db.selectFrom('blobs').where(isDamaged(db)).select('blobs.id').limit(sql.lit(1)),
)

/** False when the copy was replaced or the content is gone. A marked copy keeps its first time. */
export async function markDamaged(
  db: Database,
  { id, key }: StoredCopy,
  damage: Damage,
  now: number,
): Promise<boolean> {
  const marked = await db
    .updateTable('blobs')
    .set((row) => ({
      damaged_at: row.case().when(IS_DAMAGED).then(row.ref('damaged_at')).else(now).end(),
      damaged_key: key,
      damage,
    }))
    .where('id', '=', id)
    .where('key', '=', key)
    .executeTakeFirst()
  return marked.numUpdatedRows > 0n
}

/** Records the verification of these copies and drops their marks. */
export async function markVerified(db: Database, copies: readonly StoredCopy[], now: number): Promise<void> {
  if (copies.length === 0) return
  const keys = copies.map(({ key }) => key)
  // Locked in key order, which prevents deadlocks.
  await inTransaction(db, async (trx) => {
    await trx
      .selectFrom('blobs')
      .select('id')
      .where('key', 'in', keys)
      .orderBy('key')
      .modifyEnd(forUpdate(trx))
      .execute()
    await trx
      .updateTable('blobs')
      .set({ verified_at: now, damaged_key: null, damage: null, damaged_at: null })
      .where('key', 'in', keys)
      .execute()
  })
}

/**
 * Replaces a copy by verified bytes of the same content, as an upload of that content does: marks of the old copy are
 * void, its bytes garbage. False when the copy was replaced before or the content is gone; the caller must then remove
 * the new bytes.
 */
export async function replaceCopy(
  trx: Trx,
  { id, key }: StoredCopy,
  by: BlobKey,
  now: number,
  garbageDueAt: number,
): Promise<boolean> {
  const replaced = await trx
    .updateTable('blobs')
    .set({ key: by, created_at: now, verified_at: now, damaged_key: null, damage: null, damaged_at: null })
    .where('id', '=', id)
    .where('key', '=', key)
    .executeTakeFirst()
  if (replaced.numUpdatedRows === 0n) return false
  await discardBlob(trx, key, garbageDueAt)
  return true
}

export interface DamagedCopy extends StoredCopy {
  readonly size: number
  readonly sha256: Sha256
  readonly damage: Damage | null
  readonly damaged_at: number | null
}

export function damagedContents(db: Database, after: BlobId | null, limit: number): Promise<DamagedCopy[]> {
  const rows = db
    .selectFrom('blobs')
    .select(['id', 'key', 'size', 'sha256', 'damage', 'damaged_at'])
    .where(isDamaged(db))
    .orderBy('id')
    .limit(limit)
  return (after === null ? rows : rows.where('id', '>', after)).execute()
}

/** Answered by a partial index. */
export async function countDamaged(db: Database): Promise<number> {
  const [row] = await db.readPool.rows(
    db
      .selectFrom('blobs')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where(isDamaged(db)),
  )
  return row?.count ?? 0
}

export interface UnverifiedCopy extends StoredCopy {
  readonly size: number
  readonly sha256: Sha256
  readonly since: number
}

export const IS_UNMARKED = sql<SqlBool>`(damaged_key is null or damaged_key <> key)`
const SINCE = sql<number>`coalesce(verified_at, created_at)`

export function oldestUnverified(db: Database, before: number, limit: number): Promise<UnverifiedCopy[]> {
  return db
    .selectFrom('blobs')
    .select(['id', 'key', 'size', 'sha256', SINCE.as('since')])
    .where(SINCE, '<', before)
    .where(IS_UNMARKED)
    .orderBy(SINCE)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Counts no further than `most`. */
export async function countUnverified(
  db: Database,
  before: number,
  most: number,
): Promise<{ readonly contents: number; readonly bytes: number }> {
  const some = db
    .selectFrom('blobs')
    .select('size')
    .where(SINCE, '<', before)
    .where(IS_UNMARKED)
    .orderBy(SINCE)
    .limit(most)
  const [row] = await db.readPool.rows(
    db
      .selectFrom(some.as('some'))
      .select(({ fn }) => [fn.countAll<number>().as('contents'), wholeSum(db, 'size').as('bytes')]),
  )
  return row ?? { contents: 0, bytes: 0 }
}

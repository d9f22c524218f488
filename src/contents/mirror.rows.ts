/**
 * Which contents have a copy in the mirror, each under a key of its own there. The key is queued for removal before the
 * copy is written, so that a kill leaves no unknown copy; it leaves the queue in the transaction that records it.
 */
import { IS_UNMARKED, isDamaged, presentDamage } from '../core/damage.rows.ts'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { forUpdate, wholeSum } from '../database/differences.ts'
import type { Damage, Row } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import type { BlobId, BlobKey } from '../domain/ids.ts'

function lacking(db: Database) {
  return db.selectFrom('blobs').where('mirrored_key', 'is', null).where(IS_UNMARKED)
}

export type UnmirroredContent = Row<'blobs', 'id' | 'key' | 'size' | 'sha256'>

export type MirrorOrder = 'newest first' | 'oldest first'

export function unmirroredContents(
  db: Database,
  order: MirrorOrder,
  except: readonly BlobId[],
  limit: number,
): Promise<UnmirroredContent[]> {
  return lacking(db)
    .select(['id', 'key', 'size', 'sha256'])
    .$if(except.length > 0, (query) => query.where('id', 'not in', except))
    .orderBy('id', order === 'newest first' ? 'desc' : 'asc')
    .limit(limit)
    .execute()
}

/** Reads all rows. */
export function mirrorTotals(
  db: Database,
  which: 'mirrored' | 'lacking',
): Promise<{ count: number; bytes: number }> {
  const contents =
    which === 'lacking' ? lacking(db) : db.selectFrom('blobs').where('mirrored_key', 'is not', null)
  return contents
    .select((row) => [row.fn.countAll<number>().as('count'), wholeSum(db, 'size').as('bytes')])
    .executeTakeFirstOrThrow()
}

/** A repeated upload renews `created_at` of an old row; look at several. */
const LOOKED_AT = 1000

/** When the oldest content without a copy was stored, judged by the first rows; null for none. */
export async function oldestUnmirrored(db: Database): Promise<number | null> {
  const first = lacking(db).select('created_at').orderBy('id').limit(LOOKED_AT)
  const row = await db
    .selectFrom(first.as('first'))
    .select(({ fn }) => fn.min<number | null>('created_at').as('oldest'))
    .executeTakeFirst()
  return row?.oldest ?? null
}

export async function queueKeys(db: Queryable, keys: readonly BlobKey[], dueAt: number): Promise<void> {
  if (keys.length === 0) return
  await db
    .insertInto('mirror_garbage')
    .values(keys.map((key) => ({ key, due_at: dueAt })))
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
}

export interface Copied {
  readonly id: BlobId
  readonly key: BlobKey
}

/**
 * Records copies; returns how many. Left in the queue: keys of contents that are gone or have a copy already,
 * and keys due before `dueAfter`, which may be removed already. `guard` runs first.
 */
export function noteCopies(
  db: Database,
  copied: readonly Copied[],
  dueAfter: number,
  guard: (trx: Trx) => Promise<void>,
): Promise<number> {
  return inTransaction(db, async (trx) => {
    await guard(trx)
    const ids = copied.map(({ id }) => id)
    // Lock order: by key.
    const rows = await trx
      .selectFrom('blobs')
      .select('id')
      .where('id', 'in', ids)
      .where('mirrored_key', 'is', null)
      .orderBy('key')
      .modifyEnd(forUpdate(trx))
      .execute()
    const keys = copied.map(({ key }) => key)
    const kept = await trx
      .selectFrom('mirror_garbage')
      .select('key')
      .where('key', 'in', keys)
      .where('due_at', '>', dueAfter)
      .execute()
    const [there, queued] = [new Set(rows.map(({ id }) => id)), new Set(kept.map(({ key }) => key))]
    const noted = copied.filter(({ id, key }) => there.has(id) && queued.has(key))
    for (const { id, key } of noted) {
      await trx.updateTable('blobs').set({ mirrored_key: key }).where('id', '=', id).execute()
    }
    const done = noted.map(({ key }) => key)
    await forgetQueued(trx, done)
    return noted.length
  })
}

/** Keys whose rows were deleted since the last call. */
export async function setTimes(db: Database, dueAt: number): Promise<void> {
  await db.updateTable('mirror_garbage').set({ due_at: dueAt }).where('due_at', '=', 0).execute()
}

export async function dueKeys(db: Database, now: number, limit: number): Promise<BlobKey[]> {
  const rows = await db
    .selectFrom('mirror_garbage')
    .select('key')
    .where('due_at', '>', 0)
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(limit)
    .execute()
  return rows.map(({ key }) => key)
}

export async function postponeKeys(db: Database, keys: readonly BlobKey[], dueAt: number): Promise<void> {
  if (keys.length === 0) return
  await db.updateTable('mirror_garbage').set({ due_at: dueAt }).where('key', 'in', keys).execute()
}

export async function forgetQueued(db: Queryable, keys: readonly BlobKey[]): Promise<void> {
  if (keys.length > 0) await db.deleteFrom('mirror_garbage').where('key', 'in', keys).execute()
}

export interface MirroredContent extends UnmirroredContent {
  readonly mirroredKey: BlobKey
  /** Damage of the primary copy; null where it counts as sound. */
  readonly damage: Damage | null
}

function mirroredContents(db: Database) {
  return db
    .selectFrom('blobs')
    .select((row) => [
      'id',
      'key',
      'size',
      'sha256',
      row.ref('mirrored_key').$notNull().as('mirroredKey'),
      presentDamage(row).as('damage'),
    ])
    .where('mirrored_key', 'is not', null)
}

export function mirroredContent(db: Database, id: BlobId): Promise<MirroredContent | undefined> {
  return mirroredContents(db).where('id', '=', id).executeTakeFirst()
}

export interface MirroredAfter {
  /** Null: from the first. */
  readonly after: BlobId | null
  readonly onlyDamaged?: boolean
}

export function mirroredAfter(
  db: Database,
  { after, onlyDamaged = false }: MirroredAfter,
  limit: number,
): Promise<MirroredContent[]> {
  return mirroredContents(db)
    .$if(onlyDamaged, (query) => query.where(isDamaged(db)))
    .$if(after !== null, (query) => query.where('id', '>', after))
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Queues the copy's key for removal, unless another copy was recorded meanwhile. */
export function forgetCopy(db: Database, { id, key }: Copied, dueAt: number): Promise<void> {
  return inTransaction(db, async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('blobs')
      .set({ mirrored_key: null })
      .where('id', '=', id)
      .where('mirrored_key', '=', key)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows > 0n) await queueKeys(trx, [key], dueAt)
  })
}

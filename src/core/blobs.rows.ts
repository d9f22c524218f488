import type { Insertable } from 'kysely'
import * as z from 'zod/mini'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { forUpdate } from '../database/differences.ts'
import { preparedRows } from '../database/prepared.ts'
import type { Row, Tables } from '../database/schema.ts'
import { MINUTE } from '../domain/clock.ts'
import { type BlobId, type BlobKey, isBlobKey, type Sha256 } from '../domain/ids.ts'
import { metaOf, setMeta } from './meta.rows.ts'
import { dropThumbnail } from './thumbnails.rows.ts'

/** Grace for readers of a blob without references. */
export const GARBAGE_GRACE = MINUTE

export type NewBlob = Row<'blobs', 'key' | 'sha256' | 'crc32' | 'size' | 'created_at'>

/**
 * Adds a reference to each. The new copy, just verified, replaces a present one, which becomes garbage. Throws a unique
 * violation where two are of one new content, or another transaction adds it.
 */
export async function adoptBlobs(
  trx: Trx,
  blobs: readonly NewBlob[],
  garbageDueAt: number,
): Promise<ReadonlyMap<BlobKey, BlobId>> {
  const present = await blobsOfHashes(
    trx,
    blobs.map(({ sha256 }) => ({ sha256 })),
  )
  const ids = new Map<BlobKey, BlobId>()
  const fresh: NewBlob[] = []
  for (const blob of blobs) {
    const known = present.find(({ sha256, size }) => sha256 === blob.sha256 && size === blob.size)
    if (known === undefined) {
      fresh.push(blob)
      continue
    }
    await referToNewCopy(trx, known, blob, garbageDueAt)
    // The next of this content replaces this copy.
    known.key = blob.key
    ids.set(blob.key, known.id)
  }
  const rows = fresh.map(({ key, sha256, crc32, size, created_at }) => ({
    ...{ key, sha256, crc32, size, created_at },
    refs: 1,
  }))
  for (const { key, id } of await insertBlobs(trx, rows)) ids.set(key, id)
  return ids
}

export async function referToNewCopy(
  trx: Trx,
  known: { readonly id: BlobId; readonly key: BlobKey },
  copy: Pick<NewBlob, 'key' | 'created_at'>,
  garbageDueAt: number,
): Promise<void> {
  await trx
    .updateTable('blobs')
    .set((row) => ({
      key: copy.key,
      created_at: copy.created_at,
      verified_at: null,
      refs: row('refs', '+', 1),
    }))
    .where('id', '=', known.id)
    .execute()
  await discardBlob(trx, known.key, garbageDueAt)
}

/** Locks the rows until the transaction ends. */
const blobsOfHashes = preparedRows((db, contents: readonly { readonly sha256: Sha256 }[]) =>
  db
    .selectFrom('blobs')
    .select(['id', 'key', 'sha256', 'size'])
    .where(
      'sha256',
      'in',
      contents.map(({ sha256 }) => sha256),
    )
    .modifyEnd(forUpdate(db)),
)

const insertBlobs = preparedRows((db, blobs: readonly Omit<Insertable<Tables['blobs']>, 'id'>[]) =>
  db.insertInto('blobs').values(blobs).returning(['id', 'key']),
)

export async function releaseBlob(trx: Trx, id: BlobId, garbageDueAt: number): Promise<void> {
  const row = await trx
    .updateTable('blobs')
    .set((blob) => ({ refs: blob('refs', '-', 1) }))
    .where('id', '=', id)
    .returning(['refs', 'key'])
    .executeTakeFirstOrThrow()
  if (row.refs > 0) return
  const thumbnail = await dropThumbnail(trx, id)
  if (thumbnail !== null) await discardBlob(trx, thumbnail, garbageDueAt)
  await trx.deleteFrom('blobs').where('id', '=', id).execute()
  await discardBlob(trx, row.key, garbageDueAt)
}

export async function discardBlob(db: Queryable, key: BlobKey, dueAt: number): Promise<void> {
  await db
    .insertInto('blob_garbage')
    .values({ key, due_at: dueAt })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
}

export async function blobExists(db: Queryable, key: BlobKey): Promise<boolean> {
  return (await db.selectFrom('blobs').select('id').where('key', '=', key).executeTakeFirst()) !== undefined
}

export async function dueGarbage(db: Database, now: number, limit: number): Promise<BlobKey[]> {
  const rows = await db
    .selectFrom('blob_garbage')
    .select('key')
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(limit)
    .execute()
  return rows.map((row) => row.key)
}

/** Postpones failed removals, so that they do not block the queue. */
export async function postponeGarbage(db: Database, keys: readonly BlobKey[], dueAt: number): Promise<void> {
  if (keys.length === 0) return
  await db.updateTable('blob_garbage').set({ due_at: dueAt }).where('key', 'in', keys).execute()
}

export async function forgetGarbage(db: Database, keys: readonly BlobKey[]): Promise<void> {
  if (keys.length > 0) await db.deleteFrom('blob_garbage').where('key', 'in', keys).execute()
}

/** Takes bytes out of the garbage queue; false when they may have been removed already. */
export async function keepGarbage(trx: Trx, key: BlobKey): Promise<boolean> {
  const kept = await trx.deleteFrom('blob_garbage').where('key', '=', key).executeTakeFirst()
  return kept.numDeletedRows > 0n
}

const META = 'drawn_keys'
const keys = z.array(z.custom<BlobKey>((value) => typeof value === 'string' && isBlobKey(value)))

/** Keys of small blobs that the sole process of this database may be writing, or was at its end. */
export async function pooledKeys(db: Queryable): Promise<BlobKey[]> {
  return keys.parse(JSON.parse((await metaOf(db, META)) ?? '[]'))
}

export function recordPooledKeys(trx: Trx, keys: readonly BlobKey[]): Promise<void> {
  return setMeta(trx, META, JSON.stringify(keys))
}

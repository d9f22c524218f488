import type { BlobId, BlobKey, Sha256 } from '../domain/ids.ts'
import { forUpdate } from './differences.ts'
import { prepared, preparedChange } from './prepared.ts'
import type { Db } from './schema.ts'
import { dropThumbnail } from './thumbnails.ts'

/**
 * Puts the freshly written blob in and counts one use of it. When the same content is there already, the new
 * copy, just verified, takes its place and the old one becomes garbage.
 */
export async function adoptBlob(
  trx: Db,
  blob: { key: BlobKey; sha256: Sha256; crc32: number; size: number; created_at: number },
  garbageDueAt: number,
): Promise<BlobId> {
  const { key, sha256, crc32, size, created_at } = blob
  const [known] = await sameContent(trx, sha256, size)
  if (known === undefined) {
    const [added] = (await insertBlob(trx, key, sha256, crc32, size, created_at, 1)).rows
    if (added === undefined) throw new Error('a new blob has an id')
    return added.id
  }
  await trx
    .updateTable('blobs')
    .set((row) => ({ key: blob.key, refs: row('refs', '+', 1) }))
    .where('id', '=', known.id)
    .execute()
  await discardBlob(trx, known.key, garbageDueAt)
  return known.id
}

/** In a transaction, which has it until its end. */
const sameContent = prepared((trx, sha256: Sha256, size: number) =>
  trx
    .selectFrom('blobs')
    .select(['id', 'key'])
    .where('sha256', '=', sha256)
    .where('size', '=', size)
    .modifyEnd(forUpdate(trx)),
)

const insertBlob = preparedChange(
  (db, key: BlobKey, sha256: Sha256, crc32: number, size: number, created_at: number, refs: number) =>
    db.insertInto('blobs').values({ key, sha256, crc32, size, created_at, refs }).returning('id'),
)

/** Takes one use away; the last one leaves the blob and its thumbnail as garbage. */
export async function releaseBlob(trx: Db, id: BlobId, garbageDueAt: number): Promise<void> {
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

/** Makes garbage of bytes that no row points to. */
export async function discardBlob(trx: Db, key: BlobKey, dueAt: number): Promise<void> {
  await trx
    .insertInto('blob_garbage')
    .values({ key, due_at: dueAt })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
}

export async function blobExists(db: Db, key: BlobKey): Promise<boolean> {
  return (await db.selectFrom('blobs').select('id').where('key', '=', key).executeTakeFirst()) !== undefined
}

/** Garbage whose time has come, at most `limit` keys. */
export async function dueGarbage(db: Db, now: number, limit: number): Promise<BlobKey[]> {
  const rows = await db
    .selectFrom('blob_garbage')
    .select('key')
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(limit)
    .execute()
  return rows.map((row) => row.key)
}

/** Puts garbage off that could not be removed, so that it does not stand before the rest. */
export async function postponeGarbage(db: Db, keys: readonly BlobKey[], dueAt: number): Promise<void> {
  if (keys.length === 0) return
  await db.updateTable('blob_garbage').set({ due_at: dueAt }).where('key', 'in', keys).execute()
}

export async function forgetGarbage(db: Db, keys: readonly BlobKey[]): Promise<void> {
  if (keys.length > 0) await db.deleteFrom('blob_garbage').where('key', 'in', keys).execute()
}

/** Takes bytes out of the garbage again; false when they may have been removed already. */
export async function keepGarbage(trx: Db, key: BlobKey): Promise<boolean> {
  const kept = await trx.deleteFrom('blob_garbage').where('key', '=', key).executeTakeFirst()
  return kept.numDeletedRows > 0n
}

import { sql } from 'kysely'
import type { BlobId, BlobKey, FileId, NodeId } from '../domain/ids.ts'
import { forUpdate } from './differences.ts'
import { preparedChange } from './prepared.ts'
import type { Db, ThumbnailState } from './schema.ts'

/** What becomes of a content at first. Does nothing where it is known already. */
export async function noteThumbnail(
  trx: Db,
  blob: BlobId,
  state: 'wanted' | 'none',
  now: number,
): Promise<void> {
  await insertThumbnail(trx, blob, state, now)
}

const insertThumbnail = preparedChange((db, blob_id: BlobId, state: 'wanted' | 'none', due_at: number) =>
  db
    .insertInto('thumbnails')
    .values({ blob_id, state, due_at })
    .onConflict((conflict) => conflict.column('blob_id').doNothing()),
)

/** Wants one of a content that nobody has looked at, or that could not be made elsewhere. It may be gone by now. */
export async function wantThumbnail(trx: Db, blob: BlobId, now: number): Promise<void> {
  // Whoever removes the blob waits, so that nothing points to what is not there.
  const present = await trx
    .selectFrom('blobs')
    .select('id')
    .where('id', '=', blob)
    .modifyEnd(forUpdate(trx))
    .executeTakeFirst()
  if (present === undefined) return
  await noteThumbnail(trx, blob, 'wanted', now)
  await trx
    .updateTable('thumbnails')
    .set({ state: 'wanted', tries: 0, due_at: now })
    .where('blob_id', '=', blob)
    .where('state', '=', 'unsupported')
    .execute()
}

export interface MadeThumbnail {
  readonly key: BlobKey
  /** Bytes of the small picture, and of the large one and the one for screens after it, which may be none. */
  readonly small: number
  readonly large: number
  readonly screen: number
}

export async function findThumbnail(db: Db, blob: BlobId): Promise<MadeThumbnail | null> {
  const row = await db
    .selectFrom('thumbnails')
    .select(['key', 'small', 'large', 'screen'])
    .where('blob_id', '=', blob)
    .where('state', '=', 'made')
    .executeTakeFirst()
  if (row === undefined || row.key === null) return null
  return { key: row.key, small: row.small, large: row.large, screen: row.screen }
}

/** What became of the contents of these files; null where nobody has looked. */
export async function thumbnailStates(
  db: Db,
  files: readonly FileId[],
): Promise<ReadonlyMap<FileId, ThumbnailState | null>> {
  if (files.length === 0) return new Map()
  const rows = await db
    .selectFrom('files')
    .leftJoin('thumbnails', 'thumbnails.blob_id', 'files.blob_id')
    .select(['files.id', 'thumbnails.state'])
    .where('files.id', 'in', files)
    .execute()
  return new Map(rows.map(({ id, state }) => [id, state]))
}

/** Wants it anew, because its bytes are lost. Does nothing when it has become another one. */
export async function remakeThumbnail(db: Db, blob: BlobId, lost: BlobKey, now: number): Promise<void> {
  await db
    .updateTable('thumbnails')
    .set({ state: 'wanted', key: null, tries: 0, due_at: now })
    .where('blob_id', '=', blob)
    .where('key', '=', lost)
    .execute()
}

/** One that is to be made and that this node has claimed. */
export interface ClaimedThumbnail {
  readonly blob: BlobId
  /** Of the content. */
  readonly key: BlobKey
  readonly size: number
  /** This one included. */
  readonly tries: number
}

/**
 * Gives the node what is due and waits longest, of what no living node is at: null when there is nothing. Of any number
 * of nodes one gets it. A node never has two, so what is still under its name was left.
 */
export async function claimThumbnail(db: Db, node: NodeId, now: number): Promise<ClaimedThumbnail | null> {
  for (;;) {
    const found = await db
      .selectFrom('thumbnails')
      .innerJoin('blobs', 'blobs.id', 'thumbnails.blob_id')
      .leftJoin('nodes', (join) => join.onRef('nodes.id', '=', 'thumbnails.node').on('nodes.id', '!=', node))
      .select([
        'thumbnails.blob_id as blob',
        'thumbnails.node',
        'thumbnails.tries',
        'blobs.key',
        'blobs.size',
      ])
      // Written out, so that no plan is made before it is known that the index holds all there can be.
      .where('thumbnails.state', '=', sql.lit('wanted'))
      .where('thumbnails.due_at', '<=', now)
      .where('nodes.id', 'is', null)
      .orderBy('thumbnails.due_at')
      .orderBy('thumbnails.blob_id')
      .limit(1)
      .executeTakeFirst()
    if (found === undefined) return null
    const { blob, key, size, tries } = found
    const taken = await db
      .updateTable('thumbnails')
      .set({ node, tries: tries + 1 })
      .where('blob_id', '=', blob)
      .where('state', '=', 'wanted')
      .where('node', 'is not distinct from', found.node)
      .where('tries', '=', tries)
      .executeTakeFirst()
    if (taken.numUpdatedRows > 0n) return { blob, key, size, tries: tries + 1 }
  }
}

/** Ends a claim. False when it is the node's no more, or its content is gone. */
export async function endThumbnail(
  trx: Db,
  blob: BlobId,
  node: NodeId,
  end:
    | ({ readonly state: 'made' } & MadeThumbnail)
    | { readonly state: Exclude<ThumbnailState, 'wanted' | 'made'> }
    | { readonly state: 'wanted'; readonly tries: number; readonly due_at: number },
): Promise<boolean> {
  const ended = await trx
    .updateTable('thumbnails')
    .set({ ...end, node: null })
    .where('blob_id', '=', blob)
    .where('state', '=', 'wanted')
    .where('node', '=', node)
    .executeTakeFirst()
  return ended.numUpdatedRows > 0n
}

/** Its row goes before that of its content. What is in the store of it, or null. */
export async function dropThumbnail(trx: Db, blob: BlobId): Promise<BlobKey | null> {
  const row = await trx
    .deleteFrom('thumbnails')
    .where('blob_id', '=', blob)
    .returning('key')
    .executeTakeFirst()
  return row?.key ?? null
}

/** Nobody has looked at any content any more. */
export async function forgetThumbnails(trx: Db): Promise<void> {
  await trx.deleteFrom('thumbnails').execute()
}

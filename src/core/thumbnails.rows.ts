import { sql } from 'kysely'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { forUpdate } from '../database/differences.ts'
import { preparedRows, replanned } from '../database/prepared.ts'
import type { ThumbnailState } from '../database/schema.ts'
import type { AccountId, BlobId, BlobKey, FileId, NodeId } from '../domain/ids.ts'

/** Turn of contents that came while no thumbnails were made, and of lost thumbnails. */
const NOBODY = 0

/** Queue of an upload's thumbnail: the account's id, or a negative number from the HMAC of a guest's address. */
export function turnOf(account: AccountId, address: string | null): number {
  // 48 bits: addresses that collide only share a queue.
  return address === null ? account : -1 - Number(BigInt(Bun.hash(address)) & 0xffff_ffff_ffffn)
}

export type NewThumbnail = {
  readonly blob_id: BlobId
  readonly state: 'wanted' | 'none'
  readonly turn: number
  readonly due_at: number
}

/** Does nothing for existing rows. */
export async function noteThumbnails(trx: Trx, thumbnails: readonly NewThumbnail[]): Promise<void> {
  await insertThumbnails(trx, thumbnails)
}

const insertThumbnails = preparedRows((db, thumbnails: readonly Readonly<NewThumbnail>[]) =>
  db
    .insertInto('thumbnails')
    .values(thumbnails)
    .onConflict((conflict) => conflict.column('blob_id').doNothing()),
)

/** For a content without a row, or whose thumbnail another node could not make. It may be gone. */
export async function wantThumbnail(trx: Trx, blob: BlobId, now: number): Promise<void> {
  // Locks against concurrent removal, so that no row references a missing blob.
  const present = await trx
    .selectFrom('blobs')
    .select('id')
    .where('id', '=', blob)
    .modifyEnd(forUpdate(trx))
    .executeTakeFirst()
  if (present === undefined) return
  await noteThumbnails(trx, [{ blob_id: blob, state: 'wanted', turn: NOBODY, due_at: now }])
  await trx
    .updateTable('thumbnails')
    .set({ state: 'wanted', tries: 0, due_at: now })
    .where('blob_id', '=', blob)
    .where('state', '=', 'unsupported')
    .execute()
}

export interface MadeThumbnail {
  readonly key: BlobKey
  /** Bytes of each picture; large and screen are optional. */
  readonly small: number
  readonly large: number
  readonly screen: number
  /** 1 where browsers turn the content itself, else 0. */
  readonly turned: number
}

/** Of a content as it is shown. */
export interface Pixels {
  readonly width: number
  readonly height: number
}

export async function findThumbnail(db: Database, blob: BlobId): Promise<MadeThumbnail | null> {
  const row = await db
    .selectFrom('thumbnails')
    .select(['key', 'small', 'large', 'screen', 'turned'])
    .where('blob_id', '=', blob)
    .where('state', '=', 'made')
    .executeTakeFirst()
  if (row === undefined || row.key === null) return null
  return { ...row, key: row.key }
}

export async function thumbnailStates(
  db: Database,
  files: readonly FileId[],
): Promise<ReadonlyMap<FileId, ThumbnailState | null>> {
  if (files.length === 0) return new Map()
  const states = STATES[files.length]
  const rows = await (states === undefined ? db.read.rows(statesOf(db, files)) : states(db, ...files))
  return new Map(rows.map(({ id, state }) => [id, state]))
}

function statesOf(db: Queryable, files: readonly FileId[]) {
  return db
    .selectFrom('files')
    .leftJoin('thumbnails', 'thumbnails.blob_id', 'files.blob_id')
    .select(['files.id', 'thumbnails.state'])
    .where('files.id', 'in', files)
}

const STATES = Array.from({ length: 101 }, () => replanned((db, ...files: FileId[]) => statesOf(db, files)))

/** Of those whose thumbnails are made; `files`: of one page. */
export async function thumbnailPixels(
  db: Database,
  files: readonly FileId[],
): Promise<ReadonlyMap<FileId, Pixels>> {
  if (files.length === 0) return new Map()
  const rows = await db.read.rows(
    db
      .selectFrom('files')
      .innerJoin('thumbnails', 'thumbnails.blob_id', 'files.blob_id')
      .select(['files.id', 'thumbnails.width', 'thumbnails.height'])
      .where('files.id', 'in', files),
  )
  return new Map(
    rows.flatMap(({ id, width, height }) =>
      width === null || height === null ? [] : [[id, { width, height }]],
    ),
  )
}

/** Requests a thumbnail whose bytes are lost. Does nothing after a replacement. */
export async function remakeThumbnail(
  db: Queryable,
  blob: BlobId,
  lost: BlobKey,
  now: number,
): Promise<void> {
  await db
    .updateTable('thumbnails')
    .set({ state: 'wanted', key: null, tries: 0, due_at: now })
    .where('blob_id', '=', blob)
    .where('key', '=', lost)
    .execute()
}

export interface ClaimedThumbnail {
  readonly blob: BlobId
  readonly key: BlobKey
  readonly size: number
  readonly tries: number
  readonly turn: number
}

/** Round robin over one kind of uploader: after `last` comes the next higher waiting turn. */
export interface Turns {
  readonly least: number
  readonly most: number
  readonly last: number
}

/**
 * Claims the next turn's longest-waiting due thumbnail without a living claimant; one of several nodes gets it. A node
 * has one claim, so an earlier claim under its id was abandoned.
 */
export async function claimThumbnail(
  db: Database,
  node: NodeId,
  now: number,
  { least, most, last }: Turns,
): Promise<ClaimedThumbnail | null> {
  const after = await claimBetween(db, node, now, { from: Math.max(least, last + 1), to: most })
  return after ?? claimBetween(db, node, now, { from: least, to: last })
}

async function claimBetween(
  db: Database,
  node: NodeId,
  now: number,
  turns: { readonly from: number; readonly to: number },
): Promise<ClaimedThumbnail | null> {
  for (;;) {
    const found = await db
      .selectFrom('thumbnails')
      .innerJoin('blobs', 'blobs.id', 'thumbnails.blob_id')
      .leftJoin('nodes', (join) => join.onRef('nodes.id', '=', 'thumbnails.node').on('nodes.id', '!=', node))
      .select([
        'thumbnails.blob_id as blob',
        'thumbnails.node',
        'thumbnails.tries',
        'thumbnails.turn',
        'blobs.key',
        'blobs.size',
      ])
      // A literal, so that the planner can use the partial index.
      .where('thumbnails.state', '=', sql.lit('wanted'))
      .where('thumbnails.turn', '>=', turns.from)
      .where('thumbnails.turn', '<=', turns.to)
      .where('thumbnails.due_at', '<=', now)
      .where('nodes.id', 'is', null)
      // Damaged contents wait until they are sound.
      .whereRef('blobs.damaged_key', 'is distinct from', 'blobs.key')
      .orderBy('thumbnails.turn')
      .orderBy('thumbnails.due_at')
      .orderBy('thumbnails.blob_id')
      .limit(1)
      .executeTakeFirst()
    if (found === undefined) return null
    const { blob, key, size, tries, turn } = found
    const taken = await db
      .updateTable('thumbnails')
      .set({ node, tries: tries + 1 })
      .where('blob_id', '=', blob)
      .where('state', '=', 'wanted')
      .where('node', 'is not distinct from', found.node)
      .where('tries', '=', tries)
      .executeTakeFirst()
    if (taken.numUpdatedRows > 0n) return { blob, key, size, tries: tries + 1, turn }
  }
}

/** False when the claim was lost or the content is gone. */
export async function endThumbnail(
  db: Queryable,
  blob: BlobId,
  node: NodeId,
  end:
    | ({ readonly state: 'made' } & MadeThumbnail & Pixels)
    | { readonly state: Exclude<ThumbnailState, 'wanted' | 'made'> }
    | { readonly state: 'wanted'; readonly tries: number; readonly due_at: number },
): Promise<boolean> {
  const ended = await db
    .updateTable('thumbnails')
    .set({ ...end, node: null, ...(end.state === 'wanted' ? {} : { turn: NOBODY }) })
    .where('blob_id', '=', blob)
    .where('state', '=', 'wanted')
    .where('node', '=', node)
    .executeTakeFirst()
  return ended.numUpdatedRows > 0n
}

/** Must precede the deletion of the content's row. Returns the key of the stored pictures. */
export async function dropThumbnail(trx: Trx, blob: BlobId): Promise<BlobKey | null> {
  const row = await trx
    .deleteFrom('thumbnails')
    .where('blob_id', '=', blob)
    .returning('key')
    .executeTakeFirst()
  return row?.key ?? null
}

export async function forgetThumbnails(trx: Trx): Promise<void> {
  await trx.deleteFrom('thumbnails').execute()
}

/** Who writes to a resumable upload, and what they record. */
import type { BlobProgress, NodeId, UploadId } from '../domain/ids.ts'
import type { Db } from './schema.ts'
import type { UploadRow } from './uploads.ts'

/**
 * Makes the caller the one who writes, in one atomic statement: of several who have seen the same sitting, one. False
 * for the others, and when the upload has ended.
 */
export async function takeSitting(
  db: Db,
  { id, sitting, state }: Pick<UploadRow, 'id' | 'sitting' | 'state'>,
  node: NodeId,
): Promise<boolean> {
  const result = await db
    .updateTable('uploads')
    .set({ sitting: sitting + 1, node, asked: null })
    .where('id', '=', id)
    .where('sitting', '=', sitting)
    .where('state', '=', state)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Nobody writes any more, and what the sitting may still try to record is not taken. */
export async function endSitting(db: Db, id: UploadId, sitting: number): Promise<void> {
  await db
    .updateTable('uploads')
    .set({ sitting: sitting + 1, node: null, asked: null })
    .where('id', '=', id)
    .where('sitting', '=', sitting)
    .execute()
}

/** Asks the sitting to end, wherever it is. */
export async function askToEnd(db: Db, id: UploadId, sitting: number): Promise<void> {
  await db
    .updateTable('uploads')
    .set({ asked: sitting })
    .where('id', '=', id)
    .where('sitting', '=', sitting)
    .execute()
}

/** Whether the sitting still is the present one, and whether somebody waits for its end. */
export async function lookAtSitting(
  db: Db,
  id: UploadId,
  sitting: number,
): Promise<{ isPresent: boolean; isAsked: boolean }> {
  const row = await db
    .selectFrom('uploads')
    .select(['sitting', 'asked'])
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  return { isPresent: row?.sitting === sitting, isAsked: row?.asked === sitting }
}

/** Records what the sitting has brought; with `node` null, that it is over. False when it was over before. */
export async function recordProgress(
  db: Db,
  id: UploadId,
  sitting: number,
  change: {
    readonly received: number
    readonly progress: BlobProgress
    readonly used_at: number
    readonly state?: 'processing'
    readonly node?: null
  },
): Promise<boolean> {
  const isOver = change.node === null
  const result = await db
    .updateTable('uploads')
    .set(isOver ? { ...change, sitting: sitting + 1, asked: null } : change)
    .where('id', '=', id)
    .where('sitting', '=', sitting)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/**
 * Sets the size of an upload that had none; with that it may be whole. False when it has one, or has ended.
 */
export async function declareSize(trx: Db, id: UploadId, size: number): Promise<boolean> {
  const result = await trx
    .updateTable('uploads')
    .set((row) => ({
      size,
      state: row
        .case()
        .when('received', '=', size)
        .then('processing' as const)
        .else('uploading' as const)
        .end(),
    }))
    .where('id', '=', id)
    .where('size', 'is', null)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Uploads whose bytes are all here and that nobody alive works on, or this node says it does: see `node`. */
export function unfinishedProcessing(db: Db, node: NodeId, limit: number): Promise<UploadRow[]> {
  return db
    .selectFrom('uploads')
    .leftJoin('nodes', 'nodes.id', 'uploads.node')
    .selectAll('uploads')
    .where('uploads.state', '=', 'processing')
    .where((row) => row.or([row('nodes.id', 'is', null), row('nodes.id', '=', node)]))
    .orderBy('uploads.id')
    .limit(limit)
    .execute()
}

/**
 * Who writes to a resumable upload, and what they record. The column `sitting` is the number of the present append
 * lease, `node` its holder, and `asked` the number of the one whose release somebody waits for.
 */

import type { Database, Trx } from '../../database/database.ts'
import type { BlobProgress, NodeId, UploadId } from '../../domain/ids.ts'
import { isBelowDeleted } from '../../files/folders/trees.rows.ts'
import type { UploadRow } from '../uploads.rows.ts'

/**
 * Acquires the lease in one atomic statement: of several writers who have seen the same one before, one gets it. False
 * for the others, when the upload has ended, and while its folder is not there. Once bytes were recorded, the lease need not survive a power cut, which
 * ends its holder as well: whoever comes next cuts off what is beyond them. Before, it tells that there may be bytes.
 */
export async function acquireLease(
  db: Database,
  { id, sitting, state, progress }: Pick<UploadRow, 'id' | 'sitting' | 'state' | 'progress'>,
  node: NodeId,
): Promise<boolean> {
  const result = await (progress === null ? db : db.nonDurable)
    .updateTable('uploads')
    .set({ sitting: sitting + 1, node, asked: null })
    .where('id', '=', id)
    .where('sitting', '=', sitting)
    .where('state', '=', state)
    .where('ended_at', 'is', null)
    .where((row) => row.not(isBelowDeleted('uploads.folder_id')))
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Ends the lease: nobody writes any more, and what its holder may still try to record is not taken. */
export async function releaseLease(db: Database, id: UploadId, lease: number): Promise<void> {
  await db
    .updateTable('uploads')
    .set({ sitting: lease + 1, node: null, asked: null })
    .where('id', '=', id)
    .where('sitting', '=', lease)
    .execute()
}

/** Asks the holder of the lease to release it, on whatever node. */
export async function requestRelease(db: Database, id: UploadId, lease: number): Promise<void> {
  await db
    .updateTable('uploads')
    .set({ asked: lease })
    .where('id', '=', id)
    .where('sitting', '=', lease)
    .execute()
}

/** Notes that somebody waits for the bytes of the uploads. */
export async function noteFollowed(db: Database, ids: readonly UploadId[]): Promise<void> {
  await db.updateTable('uploads').set({ is_followed: 1 }).where('id', 'in', ids).execute()
}

/** Whether the lease is still the present one, whether its release was requested, and whether somebody waits for the bytes. */
export async function leaseState(
  db: Database,
  id: UploadId,
  lease: number,
): Promise<{ isPresent: boolean; isRequested: boolean; isFollowed: boolean }> {
  const row = await db
    .selectFrom('uploads')
    .select(['sitting', 'asked', 'is_followed'])
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  return {
    isPresent: row?.sitting === lease,
    isRequested: row?.asked === lease,
    isFollowed: row?.is_followed === 1,
  }
}

/**
 * Records what was appended under the lease; with `node` null, also releases it. Tells whether somebody waits for the bytes.
 * Null when the lease was over before.
 */
export async function recordProgress(
  db: Database,
  id: UploadId,
  lease: number,
  change: {
    readonly received: number
    readonly progress: BlobProgress
    readonly used_at: number
    readonly state?: 'processing'
    readonly node?: null
  },
): Promise<{ isFollowed: boolean } | null> {
  const isReleased = change.node === null
  const row = await db
    .updateTable('uploads')
    .set(isReleased ? { ...change, sitting: lease + 1, asked: null } : change)
    .where('id', '=', id)
    .where('sitting', '=', lease)
    .where('ended_at', 'is', null)
    .returning('is_followed')
    .executeTakeFirst()
  return row === undefined ? null : { isFollowed: row.is_followed === 1 }
}

/**
 * Sets the size of an upload that had none; with that it may be whole. False when it has one, or has ended.
 */
export async function declareSize(trx: Trx, id: UploadId, size: number): Promise<boolean> {
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

/**
 * Uploads whose bytes are all here and that nobody alive works on, or this node says it does: see `node`. Those whose
 * folder is not there wait for it.
 */
export function unfinishedProcessing(db: Database, node: NodeId, limit: number): Promise<UploadRow[]> {
  return db
    .selectFrom('uploads')
    .leftJoin('nodes', 'nodes.id', 'uploads.node')
    .selectAll('uploads')
    .where('uploads.state', '=', 'processing')
    .where((row) => row.or([row('nodes.id', 'is', null), row('nodes.id', '=', node)]))
    .where((row) => row.not(isBelowDeleted('uploads.folder_id')))
    .orderBy('uploads.id')
    .limit(limit)
    .execute()
}

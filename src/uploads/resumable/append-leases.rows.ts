/** `sitting` is the number of the present lease, `node` its holder, `asked` the lease whose release was requested. */

import type { Database, Trx } from '../../database/database.ts'
import type { BlobProgress, NodeId, UploadId } from '../../domain/ids.ts'
import { isBelowDeleted } from '../../files/folders/trees.rows.ts'
import type { UploadRow } from '../uploads.rows.ts'

/**
 * Of concurrent writers one wins. False for the others, for an ended upload, and while its folder is gone. A later
 * lease need not be durable: a power cut ends its holder, and the next cuts off unrecorded bytes. The first says that
 * there may be bytes.
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

/** After this the former holder cannot record anything. */
export async function releaseLease(db: Database, id: UploadId, lease: number): Promise<void> {
  await db
    .updateTable('uploads')
    .set({ sitting: lease + 1, node: null, asked: null })
    .where('id', '=', id)
    .where('sitting', '=', lease)
    .execute()
}

export async function requestRelease(db: Database, id: UploadId, lease: number): Promise<void> {
  await db
    .updateTable('uploads')
    .set({ asked: lease })
    .where('id', '=', id)
    .where('sitting', '=', lease)
    .execute()
}

export async function noteFollowed(db: Database, ids: readonly UploadId[]): Promise<void> {
  await db.updateTable('uploads').set({ is_followed: 1 }).where('id', 'in', ids).execute()
}

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

/** With `node` null, also releases. Returns whether the upload is followed; null when the lease was over. */
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

/** False when the upload has a size, or has ended. */
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

/** Uploads that no live node, or this one, processes, unless their folder is gone. */
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

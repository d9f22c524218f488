import { sql } from 'kysely'
import type { Database, Queryable, Trx } from '../../database/database.ts'
import type { BlobKey, UploadId } from '../../domain/ids.ts'
import type { UploadRow } from '../uploads.rows.ts'

/** False when the lease is over. */
export async function completePart(
  db: Database,
  id: UploadId,
  lease: number,
  size: number,
): Promise<boolean> {
  const result = await db
    .updateTable('uploads')
    .set({ state: 'completed', received: size, node: null, asked: null, sitting: lease + 1 })
    .where('id', '=', id)
    .where('sitting', '=', lease)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Passes on the reservation. False when the part is incomplete, claimed, or of another account. */
export async function claimPart(
  trx: Trx,
  part: Pick<UploadRow, 'id' | 'reserved'>,
  final: Pick<UploadRow, 'id' | 'account_id'>,
  position: number,
): Promise<boolean> {
  const result = await trx
    .updateTable('uploads')
    .set({ joined_into: final.id, part: position, reserved: 0 })
    .where('id', '=', part.id)
    .where('account_id', '=', final.account_id)
    .where('reserved', '=', part.reserved)
    .where('kind', '=', 'partial')
    .where('state', '=', 'completed')
    .where('joined_into', 'is', null)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  if (result.numUpdatedRows === 0n) return false
  await trx
    .updateTable('uploads')
    .set((row) => ({ reserved: row('reserved', '+', part.reserved) }))
    .where('id', '=', final.id)
    .execute()
  return true
}

export async function beginProcessing(
  trx: Trx,
  final: UploadId,
  size: number,
  usedAt: number,
): Promise<void> {
  await trx
    .updateTable('uploads')
    .set({ size, received: size, state: 'processing', used_at: usedAt })
    .where('id', '=', final)
    .execute()
}

/** More than the uploads created concurrently with one and its parts. */
const NEARBY = 1000

/** The latest waiting final upload before this part: created with it, unless it was created by itself. */
export function finalBefore(
  db: Queryable,
  { id, account_id }: Pick<UploadRow, 'id' | 'account_id'>,
): Promise<UploadRow | undefined> {
  return db
    .selectFrom('uploads')
    .selectAll()
    .where('account_id', '=', account_id)
    .where('ended_at', 'is', null)
    .where('id', '<', id)
    .where('id', '>', sql<UploadId>`${id - NEARBY}`)
    .where('kind', '=', 'final')
    .where('state', '=', 'uploading')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** In order. */
export function partsOf(db: Queryable, final: UploadId): Promise<UploadRow[]> {
  return db.selectFrom('uploads').selectAll().where('joined_into', '=', final).orderBy('part').execute()
}

/** False when the lease is over. */
export async function changeKey(trx: Trx, id: UploadId, lease: number, key: BlobKey): Promise<boolean> {
  const result = await trx
    .updateTable('uploads')
    .set({ key })
    .where('id', '=', id)
    .where('sitting', '=', lease)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

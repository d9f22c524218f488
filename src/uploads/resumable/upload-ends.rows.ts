import type { Database, Trx } from '../../database/database.ts'
import { wholeSum } from '../../database/differences.ts'
import type { BlobKey, FileId, UploadId } from '../../domain/ids.ts'
import type { UploadRow } from '../uploads.rows.ts'

export type UploadEnd = {
  readonly ended_at: number
  readonly state: 'completed' | 'failed'
  readonly file_id?: FileId
  readonly received?: number
  readonly failure?: string
}

export interface UploadEnder {
  /** Ends the upload only while this lease is current. */
  readonly lease?: number
  /** Only this final upload may end its claimed parts. */
  readonly final?: UploadId
}

/** Null when it has ended, is a part being concatenated, or the lease is over. Call under the account's lock. */
export async function endUpload(
  trx: Trx,
  upload: Pick<UploadRow, 'id' | 'account_id'>,
  end: UploadEnd,
  { lease, final }: UploadEnder = {},
): Promise<BlobKey | null> {
  const open = trx
    .selectFrom('uploads')
    .select(['key', 'reserved', 'sitting'])
    .where('id', '=', upload.id)
    .where('joined_into', 'is not distinct from', final ?? null)
    .where('ended_at', 'is', null)
  const row = await open.executeTakeFirst()
  if (row === undefined || (lease !== undefined && row.sitting !== lease)) return null
  const result = await trx
    .updateTable('uploads')
    .set({ ...end, reserved: 0, node: null, asked: null, progress: null, sitting: row.sitting + 1 })
    .where('id', '=', upload.id)
    .where('sitting', '=', row.sitting)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  if (result.numUpdatedRows === 0n) return null
  await trx
    .updateTable('accounts')
    .set((account) => ({ storage_reserved: account('storage_reserved', '-', row.reserved) }))
    .where('id', '=', upload.account_id)
    .execute()
  return row.key
}

/** No other process may be at work. */
export async function endEveryUpload(trx: Trx, at: number): Promise<void> {
  await trx
    .updateTable('accounts')
    .set((account) => ({
      storage_reserved: account(
        'storage_reserved',
        '-',
        account
          .selectFrom('uploads')
          .select(wholeSum(trx, 'uploads.reserved').as('reserved'))
          .whereRef('uploads.account_id', '=', 'accounts.id')
          .$asScalar()
          .$notNull(),
      ),
    }))
    .where('id', 'in', trx.selectFrom('uploads').select('account_id').where('reserved', '>', 0))
    .execute()
  await trx
    .updateTable('uploads')
    .set({
      ended_at: at,
      state: 'failed',
      failure: 'the server was moved',
      reserved: 0,
      node: null,
      progress: null,
    })
    .where('ended_at', 'is', null)
    .execute()
}

/** No byte since `before`, longest unused first, after the given one. */
export function unusedUploads(
  db: Database,
  before: number,
  after: Pick<UploadRow, 'id' | 'used_at'> | null,
  limit: number,
): Promise<UploadRow[]> {
  return openInOrder(db, after, limit).where('used_at', '<=', before).execute()
}

/** Parts being concatenated end with the final upload. */
function openInOrder(db: Database, after: Pick<UploadRow, 'id' | 'used_at'> | null, limit: number) {
  const open = db
    .selectFrom('uploads')
    .selectAll()
    .where('ended_at', 'is', null)
    .where('joined_into', 'is', null)
    .orderBy('used_at')
    .orderBy('id')
    .limit(limit)
  if (after === null) return open
  const { id, used_at } = after
  return open
    .where('used_at', '>=', used_at)
    .where((row) => row.or([row('used_at', '>', used_at), row('id', '>', id)]))
}

/** Longest unused first, after the given one. */
export function awaitingUploads(
  db: Database,
  after: Pick<UploadRow, 'id' | 'used_at'> | null,
  limit: number,
): Promise<UploadRow[]> {
  // Uses the index of open uploads: ended ones are many more.
  return openInOrder(db, after, limit)
    .where('kind', '=', 'final')
    .where('state', '=', 'uploading')
    .where('size', 'is not', null)
    .execute()
}

export async function noteUse(db: Database, ids: readonly UploadId[], usedAt: number): Promise<void> {
  if (ids.length === 0) return
  await db
    .updateTable('uploads')
    .set({ used_at: usedAt })
    .where('id', 'in', ids)
    .where('used_at', '<', usedAt)
    .execute()
}

/** Returns how many. */
export async function dropEndedUploads(db: Database, before: number, limit: number): Promise<number> {
  const ended = db
    .selectFrom('uploads')
    .select('id')
    .where('ended_at', '<=', before)
    .orderBy('ended_at')
    .limit(limit)
  const { numDeletedRows } = await db.deleteFrom('uploads').where('id', 'in', ended).executeTakeFirst()
  return Number(numDeletedRows)
}

export async function dropUpload(trx: Trx, id: UploadId): Promise<void> {
  await trx.deleteFrom('uploads').where('id', '=', id).execute()
}

/** The rows of resumable uploads. */
import type { Insertable, Selectable } from 'kysely'
import type {
  AccountId,
  BlobKey,
  BlobProgress,
  FileId,
  FileIdentifier,
  NodeId,
  Sha256,
  Slug,
  UploadId,
  Uuid,
} from '../domain/ids.ts'
import { wholeSum } from './differences.ts'
import { reserveRoom } from './reservations.ts'
import type { Db, Tables } from './schema.ts'

export type UploadRow = Readonly<Selectable<Tables['uploads']>>
type NewUpload = Omit<Insertable<Tables['uploads']>, 'id' | 'reserved' | 'progress' | 'sitting'>

export async function insertUpload(trx: Db, upload: NewUpload): Promise<UploadId> {
  const { id } = await trx.insertInto('uploads').values(upload).returning('id').executeTakeFirstOrThrow()
  return id
}

export function uploadById(db: Db, id: UploadId): Promise<UploadRow | undefined> {
  return db.selectFrom('uploads').selectAll().where('id', '=', id).executeTakeFirst()
}

export function uploadByToken(db: Db, hash: Sha256): Promise<UploadRow | undefined> {
  return db.selectFrom('uploads').selectAll().where('token_hash', '=', hash).executeTakeFirst()
}

/** The upload whose file is going to have that slug. */
export function uploadBySlug(db: Db, slug: Slug): Promise<UploadRow | undefined> {
  return db
    .selectFrom('uploads')
    .selectAll()
    .where('slug', '=', slug)
    .where('kind', '!=', 'partial')
    .executeTakeFirst()
}

/** The upload that is going to be that file. */
export async function arrivingUpload(db: Db, file: FileIdentifier): Promise<UploadRow | undefined> {
  if (file.kind === 'id') return undefined
  const upload = file.kind === 'slug' ? await uploadBySlug(db, file.slug) : await uploadByUuid(db, file.uuid)
  return upload?.state === 'uploading' || upload?.state === 'processing' ? upload : undefined
}

function uploadByUuid(db: Db, uuid: Uuid): Promise<UploadRow | undefined> {
  return db
    .selectFrom('uploads')
    .selectAll()
    .where('uuid', '=', uuid)
    .where('kind', '!=', 'partial')
    .executeTakeFirst()
}

/** Unfinished uploads of the account, oldest first. */
export function openUploads(db: Db, account: AccountId, limit: number): Promise<UploadRow[]> {
  return db
    .selectFrom('uploads')
    .selectAll()
    .where('account_id', '=', account)
    .where('ended_at', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Bytes that unfinished uploads were promised and have not recorded yet. */
export async function unwrittenBytes(db: Db): Promise<number> {
  const { reserved, received } = await db
    .selectFrom('uploads')
    .select([wholeSum(db, 'reserved').as('reserved'), wholeSum(db, 'received').as('received')])
    .where('ended_at', 'is', null)
    .where('joined_into', 'is', null)
    .executeTakeFirstOrThrow()
  return Math.max(0, reserved - received)
}

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

/** Adds to the room that the upload has set aside. False when the account has not that much left. */
export async function reserveForUpload(
  trx: Db,
  upload: { readonly id: UploadId; readonly account_id: AccountId },
  bytes: number,
  limit: number,
): Promise<boolean> {
  if (!(await reserveRoom(trx, upload.account_id, bytes, limit))) return false
  await trx
    .updateTable('uploads')
    .set((row) => ({ reserved: row('reserved', '+', bytes) }))
    .where('id', '=', upload.id)
    .execute()
  return true
}

export type UploadEnd = {
  readonly ended_at: number
  readonly state: 'completed' | 'failed'
  readonly file_id?: FileId
  readonly failure?: string
}

/**
 * Ends the upload and gives its room back; false when somebody else has ended it, or, given a sitting, when another
 * one has begun. To be asked for under the account's lock.
 */
export async function endUpload(
  trx: Db,
  upload: Pick<UploadRow, 'id' | 'account_id'>,
  end: UploadEnd,
  sitting: number | null = null,
): Promise<boolean> {
  const open = trx
    .selectFrom('uploads')
    .select(['reserved', 'sitting'])
    .where('id', '=', upload.id)
    .where('ended_at', 'is', null)
  const row = await open.executeTakeFirst()
  if (row === undefined || (sitting !== null && row.sitting !== sitting)) return false
  const result = await trx
    .updateTable('uploads')
    .set({ ...end, reserved: 0, node: null, asked: null, progress: null, sitting: row.sitting + 1 })
    .where('id', '=', upload.id)
    .where('sitting', '=', row.sitting)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  if (result.numUpdatedRows === 0n) return false
  await trx
    .updateTable('accounts')
    .set((account) => ({ storage_reserved: account('storage_reserved', '-', row.reserved) }))
    .where('id', '=', upload.account_id)
    .execute()
  return true
}

/** Ends all uploads at once. Nobody else may be at work. */
export async function endEveryUpload(trx: Db, at: number): Promise<void> {
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

/** Open uploads to which no byte has come since `before`, the oldest first. */
export function unusedUploads(db: Db, before: number, limit: number): Promise<UploadRow[]> {
  return (
    db
      .selectFrom('uploads')
      .selectAll()
      .where('ended_at', 'is', null)
      // What is being joined ends with the whole.
      .where('joined_into', 'is', null)
      .where('used_at', '<=', before)
      .orderBy('used_at')
      .limit(limit)
      .execute()
  )
}

/** Forgets uploads that ended before then; returns how many. */
export async function dropEndedUploads(db: Db, before: number, limit: number): Promise<number> {
  const ended = db
    .selectFrom('uploads')
    .select('id')
    .where('ended_at', '<=', before)
    .orderBy('ended_at')
    .limit(limit)
  const { numDeletedRows } = await db.deleteFrom('uploads').where('id', 'in', ended).executeTakeFirst()
  return Number(numDeletedRows)
}

export async function dropUpload(trx: Db, id: UploadId): Promise<void> {
  await trx.deleteFrom('uploads').where('id', '=', id).execute()
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

/** A partial upload is whole and waits to be joined. False when the sitting is over. */
export async function completePart(db: Db, id: UploadId, sitting: number): Promise<boolean> {
  const result = await db
    .updateTable('uploads')
    .set({ state: 'completed', node: null, asked: null, sitting: sitting + 1 })
    .where('id', '=', id)
    .where('sitting', '=', sitting)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/**
 * Makes the completed partial upload a part of the final one, and its room that one's. False when it cannot be: it is
 * not whole, or used up.
 */
export async function claimPart(
  trx: Db,
  part: Pick<UploadRow, 'id' | 'reserved'>,
  final: UploadId,
  position: number,
): Promise<boolean> {
  const result = await trx
    .updateTable('uploads')
    .set({ joined_into: final, part: position, reserved: 0 })
    .where('id', '=', part.id)
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
    .where('id', '=', final)
    .execute()
  return true
}

/** All bytes of the final upload are here, in its parts. */
export async function beginProcessing(trx: Db, final: UploadId, size: number): Promise<void> {
  await trx
    .updateTable('uploads')
    .set({ size, received: size, state: 'processing' })
    .where('id', '=', final)
    .execute()
}

/** The parts of a final upload in their order. */
export function partsOf(db: Db, final: UploadId): Promise<UploadRow[]> {
  return db.selectFrom('uploads').selectAll().where('joined_into', '=', final).orderBy('part').execute()
}

/** Gives the upload another blob to be written; false when the sitting is over. */
export async function changeKey(trx: Db, id: UploadId, sitting: number, key: BlobKey): Promise<boolean> {
  const result = await trx
    .updateTable('uploads')
    .set({ key })
    .where('id', '=', id)
    .where('sitting', '=', sitting)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

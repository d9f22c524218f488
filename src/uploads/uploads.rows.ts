import type { Insertable, Selectable } from 'kysely'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { wholeSum } from '../database/differences.ts'
import { prepared } from '../database/prepared.ts'
import type { Tables } from '../database/schema.ts'
import {
  type AccountId,
  type FileIdentifier,
  type FolderId,
  GUESTS,
  type Sha256,
  type Slug,
  type UploadId,
  type Uuid,
} from '../domain/ids.ts'
import { treeOf } from '../files/folders/trees.rows.ts'

export type UploadRow = Readonly<Selectable<Tables['uploads']>>
export type NewUploadRow = Omit<Insertable<Tables['uploads']>, 'id' | 'reserved' | 'progress' | 'sitting'>

/** `reserved`: bytes reserved of the account in the same transaction. */
export function insertUpload(trx: Trx, upload: NewUploadRow, reserved: number): Promise<UploadRow> {
  return trx
    .insertInto('uploads')
    .values({ ...upload, reserved })
    .returningAll()
    .executeTakeFirstOrThrow()
}

// Prepared, because every request that brings bytes runs them several times.
const byId = prepared((db, id: UploadId) => db.selectFrom('uploads').selectAll().where('id', '=', id))
const byToken = prepared((db, hash: Sha256) =>
  db.selectFrom('uploads').selectAll().where('token_hash', '=', hash),
)

export async function uploadById(db: Queryable, id: UploadId): Promise<UploadRow | undefined> {
  const [row] = await byId(db, id)
  return row
}

export async function uploadByToken(db: Database, hash: Sha256): Promise<UploadRow | undefined> {
  const [row] = await byToken(db, hash)
  return row
}

export async function uploadsByToken(db: Queryable, hashes: readonly Sha256[]): Promise<UploadRow[]> {
  if (hashes.length === 0) return []
  return db.selectFrom('uploads').selectAll().where('token_hash', 'in', hashes).execute()
}

export async function uploadBySlug(db: Database, slug: Slug): Promise<UploadRow | undefined> {
  return db
    .selectFrom('uploads')
    .selectAll()
    .where('slug', '=', slug)
    .where('kind', '!=', 'partial')
    .executeTakeFirst()
}

/** Excludes partial uploads in use. */
export async function openUploadBySlug(
  db: Database,
  account: AccountId,
  slug: Slug,
): Promise<UploadRow | undefined> {
  return db
    .selectFrom('uploads')
    .selectAll()
    .where('slug', '=', slug)
    .where('account_id', '=', account)
    .where('ended_at', 'is', null)
    .where('joined_into', 'is', null)
    .executeTakeFirst()
}

export async function arrivingUpload(db: Database, file: FileIdentifier): Promise<UploadRow | undefined> {
  if (file.kind === 'id') return undefined
  const upload = file.kind === 'slug' ? await uploadBySlug(db, file.slug) : await uploadByUuid(db, file.uuid)
  return upload?.state === 'uploading' || upload?.state === 'processing' ? upload : undefined
}

export function uploadByUuid(db: Database, uuid: Uuid): Promise<UploadRow | undefined> {
  return db
    .selectFrom('uploads')
    .selectAll()
    .where('uuid', '=', uuid)
    .where('kind', '!=', 'partial')
    .executeTakeFirst()
}

/** Oldest first. */
export function openUploads(
  db: Database,
  account: AccountId,
  within: FolderId | null,
  limit: number,
): Promise<UploadRow[]> {
  const open = db
    .selectFrom('uploads')
    .selectAll()
    .where('account_id', '=', account)
    .where('ended_at', 'is', null)
    .orderBy('id')
    .limit(limit)
  if (within === null) return open.execute()
  return db.readPool.rows(open.where('folder_id', 'in', treeOf(within)))
}

/** Excludes bytes recorded as received. */
export async function unwrittenBytes(db: Database): Promise<number> {
  const [sums] = await sumsOfOpen(db)
  if (sums === undefined) throw new Error('a sum is always there')
  return Math.max(0, sums.reserved - sums.received)
}

const sumsOfOpen = prepared((db) =>
  db
    .selectFrom('uploads')
    .select([wholeSum(db, 'reserved').as('reserved'), wholeSum(db, 'received').as('received')])
    .where('ended_at', 'is', null)
    .where('joined_into', 'is', null),
)

/** Call in the transaction that reserves the bytes of the account. */
export async function growUploadReservation(trx: Trx, id: UploadId, bytes: number): Promise<void> {
  await trx
    .updateTable('uploads')
    .set((row) => ({ reserved: row('reserved', '+', bytes) }))
    .where('id', '=', id)
    .execute()
}

/** Knowing an ended upload's address must reveal no more of its file than of others of the account. */
export async function giveUploads(
  trx: Trx,
  uuid: Uuid,
  { account, folder }: { readonly account: AccountId; readonly folder: FolderId },
): Promise<void> {
  await trx
    .updateTable('uploads')
    .set({ account_id: account, folder_id: folder })
    .where('uuid', '=', uuid)
    .where('account_id', '=', GUESTS)
    .where('ended_at', 'is not', null)
    .execute()
}

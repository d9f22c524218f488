/** The rows of resumable uploads. */
import type { Insertable, Selectable } from 'kysely'
import {
  type AccountId,
  type FileIdentifier,
  type FolderId,
  isSlug,
  type Sha256,
  type Slug,
  type UploadId,
  type Uuid,
} from '../domain/ids.ts'
import { besideRequests } from './beside.ts'
import { wholeSum } from './differences.ts'
import { prepared } from './prepared.ts'
import { reserveRoom } from './reservations.ts'
import type { Db, Tables } from './schema.ts'
import { treeOf } from './trees.ts'

export type UploadRow = Readonly<Selectable<Tables['uploads']>>
type NewUpload = Omit<Insertable<Tables['uploads']>, 'id' | 'reserved' | 'progress' | 'sitting'>

export async function insertUpload(trx: Db, upload: NewUpload): Promise<UploadId> {
  const { id } = await trx.insertInto('uploads').values(upload).returning('id').executeTakeFirstOrThrow()
  return id
}

// Asked several times by every request that brings bytes.
const byId = prepared((db, id: UploadId) => db.selectFrom('uploads').selectAll().where('id', '=', id))
const byToken = prepared((db, hash: Sha256) =>
  db.selectFrom('uploads').selectAll().where('token_hash', '=', hash),
)

export async function uploadById(db: Db, id: UploadId): Promise<UploadRow | undefined> {
  const [row] = await byId(db, id)
  return row
}

export async function uploadByToken(db: Db, hash: Sha256): Promise<UploadRow | undefined> {
  const [row] = await byToken(db, hash)
  return row
}

/** The upload whose file is going to have that slug. */
export async function uploadBySlug(db: Db, slug: Slug): Promise<UploadRow | undefined> {
  if (!isSlug(slug)) return undefined
  return db
    .selectFrom('uploads')
    .selectAll()
    .where('slug', '=', slug)
    .where('kind', '!=', 'partial')
    .executeTakeFirst()
}

/** The account's unfinished upload of that slug, unless it is a part that is used up. */
export async function openUploadBySlug(
  db: Db,
  account: AccountId,
  slug: Slug,
): Promise<UploadRow | undefined> {
  if (!isSlug(slug)) return undefined
  return db
    .selectFrom('uploads')
    .selectAll()
    .where('slug', '=', slug)
    .where('account_id', '=', account)
    .where('ended_at', 'is', null)
    .where('joined_into', 'is', null)
    .executeTakeFirst()
}

/** The upload that is going to be that file. */
export async function arrivingUpload(db: Db, file: FileIdentifier): Promise<UploadRow | undefined> {
  if (file.kind === 'id') return undefined
  const upload = file.kind === 'slug' ? await uploadBySlug(db, file.slug) : await uploadByUuid(db, file.uuid)
  return upload?.state === 'uploading' || upload?.state === 'processing' ? upload : undefined
}

/** The upload whose file has that UUID, or is going to. */
export function uploadByUuid(db: Db, uuid: Uuid): Promise<UploadRow | undefined> {
  return db
    .selectFrom('uploads')
    .selectAll()
    .where('uuid', '=', uuid)
    .where('kind', '!=', 'partial')
    .executeTakeFirst()
}

/** Unfinished uploads of the account, or of those to a live folder of it and below, oldest first. */
export function openUploads(
  db: Db,
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
  return besideRequests(db, open.where('folder_id', 'in', treeOf(within)))
}

/** Bytes that unfinished uploads were promised and have not recorded yet. */
export async function unwrittenBytes(db: Db): Promise<number> {
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

/** How many unfinished uploads of the account, or from one address, have no byte yet: at most `limit`. */
export async function countEmpty(
  db: Db,
  account: AccountId,
  address: string | null,
  limit: number,
): Promise<number> {
  const empty = db
    .selectFrom('uploads')
    .select('id')
    .where('account_id', '=', account)
    .where('ended_at', 'is', null)
    .where('received', '=', 0)
    .where('joined_into', 'is', null)
    .limit(limit)
  const some = address === null ? empty : empty.where('address', '=', address)
  const { count } = await db
    .selectFrom(some.as('some'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
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

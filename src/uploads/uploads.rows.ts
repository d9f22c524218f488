import type { Insertable, Selectable } from 'kysely'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { wholeSum } from '../database/differences.ts'
import { prepared } from '../database/prepared.ts'
import type { Tables } from '../database/schema.ts'
import {
  type AccountId,
  type BlobKey,
  type BlobProgress,
  type FileId,
  type FileIdentifier,
  type FolderId,
  GUESTS,
  type LinkId,
  type NodeId,
  type Sha256,
  type Slug,
  type UploadId,
  type Uuid,
} from '../domain/ids.ts'
import { isBelowDeleted, treeOf } from '../files/folders/folders.rows.ts'

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

/** `sitting` is the number of the present lease, `node` its holder, `asked` the lease whose release was requested. */

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

/** False when the lease is over. */
export async function completePartial(
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
export async function joinPartialUpload(
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

/** In order. */
export function partialOf(db: Queryable, final: UploadId): Promise<UploadRow[]> {
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

/** Uploads of an account, or by one link to it. */
export interface EmptyUploadsOf {
  readonly account: AccountId
  readonly link: LinkId | null
}

function emptyOnes(db: Queryable, { account, link }: EmptyUploadsOf) {
  const empty = db
    .selectFrom('uploads')
    .where('account_id', '=', account)
    .where('ended_at', 'is', null)
    .where('received', '=', 0)
    .where('joined_into', 'is', null)
  return link === null ? empty.where('link_id', 'is', null) : empty.where('link_id', '=', link)
}

/** At most `limit`, of all or of one address. */
export async function countEmpty(
  db: Queryable,
  of: EmptyUploadsOf,
  address: string | null,
  limit: number,
): Promise<number> {
  const all = emptyOnes(db, of).select('id').limit(limit)
  const some = address === null ? all : all.where('address', '=', address)
  const { count } = await db
    .selectFrom(some.as('some'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

export interface EmptyOfAddress {
  readonly network: string | null
  readonly subnet: string | null
  readonly address: string | null
  readonly count: number
}

export async function emptyByAddress(db: Queryable, of: EmptyUploadsOf): Promise<EmptyOfAddress[]> {
  const rows = await emptyOnes(db, of)
    .select(({ fn }) => ['network', 'subnet', 'address', fn.countAll<number>().as('count')])
    .groupBy(['network', 'subnet', 'address'])
    .execute()
  return rows.map((row) => ({ ...row, count: Number(row.count) }))
}

/** Longest unused first; of all addresses where there are too many to name. */
export function idleEmpty(
  trx: Trx,
  of: EmptyUploadsOf,
  { addresses, before, limit }: { readonly addresses: readonly string[]; before: number; limit: number },
): Promise<UploadRow[]> {
  const idle = emptyOnes(trx, of)
    .selectAll()
    .where('state', '=', 'uploading')
    .where('node', 'is', null)
    .where('used_at', '<=', before)
    .orderBy('used_at')
    .orderBy('id')
    .limit(limit)
  return (addresses.length > MOST_NAMED ? idle : idle.where('address', 'in', addresses)).execute()
}

const MOST_NAMED = 500

/** Empty since `before`, oldest first, after the given one; with parts. */
export function waitingEmpty(
  db: Database,
  before: number,
  after: Pick<UploadRow, 'id' | 'used_at'> | null,
  limit: number,
): Promise<UploadRow[]> {
  const empty = db
    .selectFrom('uploads')
    .selectAll()
    .where('ended_at', 'is', null)
    .where('joined_into', 'is', null)
    .where('received', '=', 0)
    .where('state', '=', 'uploading')
    .where('used_at', '<=', before)
    .orderBy('used_at')
    .orderBy('id')
    .limit(limit)
  if (after === null) return empty.execute()
  const { id, used_at } = after
  return empty
    .where('used_at', '>=', used_at)
    .where((row) => row.or([row('used_at', '>', used_at), row('id', '>', id)]))
    .execute()
}

export async function noteSender(
  db: Database,
  sender: { readonly account: AccountId } | { readonly address: string },
  at: number,
): Promise<void> {
  const empty = db
    .updateTable('uploads')
    .set({ used_at: at })
    .where('ended_at', 'is', null)
    .where('joined_into', 'is', null)
    .where('received', '=', 0)
    .where('used_at', '<', at)
  const own =
    'address' in sender
      ? empty.where('address', '=', sender.address)
      : empty.where('account_id', '=', sender.account).where('address', 'is', null)
  await own.execute()
}

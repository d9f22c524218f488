/** Transfers: folders with one link, made together, that uploads go into. A transfer is named by the id of its folder. */
import { type Insertable, type RawBuilder, sql } from 'kysely'
import { countPlaces } from '../core/link-places.rows.ts'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { forUpdate, greatest } from '../database/differences.ts'
import type { Row, Tables } from '../database/schema.ts'
import { MINUTE } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, FileId, FolderId, FolderIdentifier, LinkId } from '../domain/ids.ts'
import { type FileListRow, liveFiles } from './file-lists.rows.ts'
import { folderById, treeOf, wholeTreeOf } from './folders/folders.rows.ts'

export type TransferRow = Row<'transfers'>

export async function insertTransfer(trx: Trx, transfer: Insertable<Tables['transfers']>): Promise<void> {
  await trx.insertInto('transfers').values(transfer).execute()
}

export function transferOf(db: Queryable, folder: FolderId): Promise<TransferRow | undefined> {
  return db.selectFrom('transfers').selectAll().where('folder_id', '=', folder).executeTakeFirst()
}

export function transferOfLink(db: Queryable, link: LinkId): Promise<TransferRow | undefined> {
  return db.selectFrom('transfers').selectAll().where('link_id', '=', link).executeTakeFirst()
}

export async function updateTransfer(
  trx: Trx,
  folder: FolderId,
  change: Partial<
    Pick<
      TransferRow,
      | 'announced_files'
      | 'sender'
      | 'announced_bytes'
      | 'closed_at'
      | 'opens_again'
      | 'look_at'
      | 'network'
      | 'subnet'
      | 'address'
    >
  >,
): Promise<void> {
  if (Object.keys(change).length === 0) return
  await trx.updateTable('transfers').set(change).where('folder_id', '=', folder).execute()
}

export async function hasTransfers(db: Database, account: AccountId): Promise<boolean> {
  const one = db
    .selectFrom('folders')
    .select('id')
    .where('account_id', '=', account)
    .where('is_transfer', '=', 1)
    .where('deleted_at', 'is', null)
    .limit(1)
  return (await db.readPool.rows(one)).length > 0
}

/** Whether uploads into it are under way. */
export async function isUnderWay(db: Queryable, folder: FolderId): Promise<boolean> {
  return (await underWay(db, [folder])).has(folder)
}

/** Those into which uploads are under way; parts count as the final upload that they are for. */
async function underWay(db: Queryable, transfers: readonly FolderId[]): Promise<ReadonlySet<FolderId>> {
  const ids = sql.join(transfers)
  const { rows } = await sql<{ transfer: FolderId }>`
    select transfer from uploads where transfer in (${ids}) and ended_at is null and kind <> 'partial'
    union select transfer from reservations where transfer in (${ids})`.execute(db)
  return new Set(rows.map(({ transfer }) => transfer))
}

export interface TransferState extends TransferRow {
  readonly folder: FolderIdentifier
  /** All is here, and nothing under way. */
  readonly isWhole: boolean
}

/** By folder; those that are gone are left out. */
export async function transferStates(
  db: Database,
  folders: readonly FolderId[],
): Promise<ReadonlyMap<FolderId, TransferState>> {
  if (folders.length === 0) return new Map()
  const rows = await db
    .selectFrom('transfers')
    .innerJoin('folders', 'folders.id', 'transfers.folder_id')
    .selectAll('transfers')
    .select('folders.identifier as folder')
    .where('transfers.folder_id', 'in', folders)
    .where('folders.deleted_at', 'is', null)
    .execute()
  const coming = await underWay(db, folders)
  return new Map(
    rows.map((row) => [row.folder_id, { ...row, isWhole: isClosed(row) && !coming.has(row.folder_id) }]),
  )
}

/** Closed, or with all announced files safe; deletions do not undo that. Uploads may be under way. */
export function isClosed({
  closed_at,
  announced_files,
  arrived_files,
}: Pick<TransferRow, 'closed_at' | 'announced_files' | 'arrived_files'>): boolean {
  return closed_at !== null || (announced_files !== null && arrived_files >= announced_files)
}

export async function isWhole(db: Queryable, transfer: TransferRow): Promise<boolean> {
  return isClosed(transfer) && !(await isUnderWay(db, transfer.folder_id))
}

/** Call in the transaction that stores the files: nothing comes after a download began. Throws Refusal LINK_USED_UP. */
export async function noteArrival(
  trx: Trx,
  folder: FolderId,
  came: { readonly files: number; readonly bytes: number; readonly at: number },
): Promise<void> {
  await assertTakesMore(trx, folder, came.at)
  await trx
    .updateTable('transfers')
    .set((row) => ({
      arrived_files: row('arrived_files', '+', came.files),
      arrived_bytes: row('arrived_bytes', '+', came.bytes),
      last_used_at: greatest(trx, 'last_used_at', came.at),
      look_at: null,
    }))
    .where('folder_id', '=', folder)
    .execute()
}

/** Throws Refusal LINK_USED_UP for a number of downloads of which one was taken. In a transaction locks the link. */
export async function assertTakesMore(db: Queryable, folder: FolderId, now: number): Promise<void> {
  const link = await db
    .selectFrom('links')
    .select(['id', 'max_downloads'])
    .where('id', '=', (of) => of.selectFrom('transfers').select('link_id').where('folder_id', '=', folder))
    .modifyEnd(forUpdate(db))
    .executeTakeFirst()
  if (link === undefined || link.max_downloads === null || (await countPlaces(db, link.id, now)) === 0) return
  throw new Refusal('LINK_USED_UP', 'Somebody has begun to download this; send further files by another link')
}

/** Folders outlive failed uploads into them, so they are limited. */
const MOST_FOLDERS = 10_000

/** Throws Refusal INVALID_REQUEST. */
export async function assertRoomForFolders(trx: Trx, folder: FolderId): Promise<void> {
  const { tree_folders } = await folderById(trx, folder)
  if (tree_folders < MOST_FOLDERS) return
  throw new Refusal(
    'INVALID_REQUEST',
    `A transfer holds ${MOST_FOLDERS} folders at most; send files without them`,
  )
}

/** Whether its link, unless it was taken back, has a password, an end or a number of downloads. */
export async function hasTerms(trx: Trx, folder: FolderId): Promise<boolean> {
  const link = await trx
    .selectFrom('links')
    .select('links.id')
    .innerJoin('transfers', 'transfers.link_id', 'links.id')
    .where('transfers.folder_id', '=', folder)
    .where('links.revoked_at', 'is', null)
    .where((row) =>
      row.or([
        row('links.password_hash', 'is not', null),
        row('links.ends_at', 'is not', null),
        row('links.max_downloads', 'is not', null),
      ]),
    )
    .executeTakeFirst()
  return link !== undefined
}

/** Of its folder and those below, oldest first. */
export function filesOfTransfer(
  db: Database,
  folder: FolderId,
  offset: number,
  limit: number,
): Promise<FileListRow[]> {
  const files = liveFiles(db).where('files.folder_id', 'in', treeOf(folder))
  return db.readPool.rows(files.orderBy('files.id').offset(offset).limit(limit))
}

/** Its own use and that of all files in it. */
export async function noteTransferUse(
  db: Queryable,
  folders: readonly FolderId[],
  at: number,
): Promise<void> {
  await db
    .updateTable('transfers')
    .set({ last_used_at: at })
    .where('folder_id', 'in', folders)
    .where('last_used_at', '<', at)
    .execute()
}

/** The folders of `files` and those above, up to the nearest transfers. */
const above = (files: readonly FileId[]) => sql`
  with recursive above (folder_id, parent_id, is_transfer) as (
    select id, parent_id, is_transfer from folders
    where id in (select folder_id from files where id in (${sql.join(files)}))
    union
    select folders.id, folders.parent_id, folders.is_transfer
    from folders join above on folders.id = above.parent_id
    where above.is_transfer = 0
  )`

export async function noteUseInTransfers(trx: Trx, files: readonly FileId[], at: number): Promise<void> {
  await sql`${above(files)}
    update transfers set last_used_at = ${at}
    where last_used_at < ${at} and folder_id in (select folder_id from above where is_transfer = 1)`.execute(
    trx,
  )
}

/** Gives files in transfers the last use of these, by which they end. Returns whether one was used later. */
export async function takeTransferUse(trx: Trx, files: readonly FileId[]): Promise<boolean> {
  if (files.length === 0) return false
  const { numAffectedRows } = await sql`
    with recursive above (file_id, folder_id) as (
      select id, folder_id from files where id in (${sql.join(files)})
      union all
      select above.file_id, folders.parent_id from folders join above on folders.id = above.folder_id
      where folders.is_transfer = 0 and folders.parent_id is not null
    ),
    used (file_id, at) as (
      select above.file_id, transfers.last_used_at
      from above join transfers on transfers.folder_id = above.folder_id
    )
    update files set last_used_at = (select max(at) from used where file_id = files.id)
    where id in (select file_id from used where at > files.last_used_at)`.execute(trx)
  return (numAffectedRows ?? 0n) > 0n
}

/** Last use of the transfer that a folder is or lies in, which its files share; null for other folders. */
export function transferUse(folder: string): RawBuilder<number | null> {
  return sql<number | null>`(
    with recursive around (id, parent_id, is_transfer) as (
      select id, parent_id, is_transfer from folders where id = ${sql.ref(folder)}
      union all
      select folders.id, folders.parent_id, folders.is_transfer
      from folders join around on folders.id = around.parent_id
      where around.is_transfer = 0
    )
    select transfers.last_used_at from around join transfers on transfers.folder_id = around.id
    where around.is_transfer = 1
  )`
}

/** Between looks at a transfer into which only uploads are under way. */
const LOOK_AGAIN = 5 * MINUTE

export function transfersToLookAt(db: Database, now: number, most: number): Promise<TransferRow[]> {
  return db
    .selectFrom('transfers')
    .selectAll()
    .where('look_at', '<=', now)
    .orderBy('look_at')
    .orderBy('folder_id')
    .limit(most)
    .execute()
}

/** Whether nothing is in it or comes to it; files that ended by inactivity or are in the bin may come back. */
export async function isEmptyTransfer(trx: Trx, folder: FolderId): Promise<boolean> {
  const { rows } = await sql<{ one: number }>`
    select 1 as one from files
    where folder_id in ${wholeTreeOf(folder)} and (removed_at is null or removal <> 'deleted')
    limit 1`.execute(trx)
  return rows.length === 0 && !(await isUnderWay(trx, folder))
}

/** Sets when to look again: `tree_files` are there now. */
export async function notEmptyYet(trx: Trx, folder: FolderId, treeFiles: number, now: number): Promise<void> {
  await updateTransfer(trx, folder, { look_at: treeFiles > 0 ? null : now + LOOK_AGAIN })
}

/** Of transfers whose folders are deleted for good. */
export async function revokeLinksOfDeleted(db: Queryable, now: number): Promise<void> {
  const deleted = db
    .selectFrom('transfers')
    .innerJoin('folders', 'folders.id', 'transfers.folder_id')
    .select('transfers.link_id')
    .where('folders.deleted_at', 'is not', null)
    .where('folders.bin_id', 'is', null)
    .where('folders.cleared_at', 'is not', null)
  await db
    .updateTable('links')
    .set({ revoked_at: now })
    .where('revoked_at', 'is', null)
    .where('id', 'in', deleted)
    .execute()
}

const empty = (db: Queryable) =>
  db.selectFrom('transfers').where('arrived_files', '=', sql.lit(0)).where('address', 'is not', null)

/** Guests' transfers into which nothing has come, of all addresses or of one; at most `most`. */
export async function countEmptyTransfers(
  db: Queryable,
  address: string | null,
  most: number,
): Promise<number> {
  const some = address === null ? empty(db) : empty(db).where('address', '=', address)
  const rows = await some.select('folder_id').limit(most).execute()
  return rows.length
}

export async function emptyTransfersByAddress(db: Queryable): Promise<EmptyOfAddress[]> {
  const rows = await empty(db)
    .select(({ fn }) => ['network', 'subnet', 'address', fn.countAll<number>().as('count')])
    .groupBy(['network', 'subnet', 'address'])
    .execute()
  return rows.map((row) => ({ ...row, count: Number(row.count) }))
}

interface EmptyOfAddress extends Pick<TransferRow, 'network' | 'subnet' | 'address'> {
  readonly count: number
}

/** Oldest first. */
export function emptyTransfersOf(
  trx: Trx,
  addresses: readonly string[],
  most: number,
): Promise<TransferRow[]> {
  return empty(trx)
    .selectAll()
    .where('address', 'in', addresses)
    .orderBy('created_at')
    .orderBy('folder_id')
    .limit(most)
    .execute()
}

/** The only file of a transfer that is to hold no other, and into which nothing is under way; else undefined. */
export async function onlyFileOf(db: Database, transfer: TransferRow): Promise<FileListRow | undefined> {
  const { folder_id: folder, announced_files: announced } = transfer
  if ((announced ?? 1) !== 1 || (await folderById(db, folder)).tree_files !== 1) return undefined
  if (await isUnderWay(db, folder)) return undefined
  const [file] = await liveFiles(db).where('files.folder_id', 'in', treeOf(folder)).limit(1).execute()
  return file
}

import { type Insertable, type RawBuilder, type SqlBool, sql, type Updateable } from 'kysely'
import type { OwnedLink } from '../../core/link-events.rows.ts'
import { downloadsOfLink } from '../../core/link-places.rows.ts'
import type { Database, Queryable, Trx } from '../../database/database.ts'
import { lookup, prepared } from '../../database/prepared.ts'
import type { Tables } from '../../database/schema.ts'
import type { AccountId, FileId, FolderId, LinkId, LinkSlug } from '../../domain/ids.ts'
import { type FileListRow, liveFiles } from '../../files/file-lists.rows.ts'
import { type FolderListRow, isBelowDeleted, liveFolders, treeOf } from '../../files/folders/folders.rows.ts'
import { isOfTransfer } from '../../uploads/guest-links.rows.ts'

export interface LinkRow {
  readonly id: LinkId
  readonly account_id: AccountId
  readonly slug: LinkSlug
  readonly name: string | null
  readonly message: string | null
  readonly password_hash: string | null
  readonly ends_at: number | null
  readonly created_at: number
  readonly revoked_at: number | null
  readonly max_downloads: number | null
  /** The folder may be gone. */
  readonly uploads_into: FolderId | null
  /** Folder of the transfer whose link it is; it may be gone. */
  readonly transfer: FolderId | null
  /** Of the transfer: what the sender calls themselves. */
  readonly sender: string | null
  /** Display name of the account. */
  readonly display_name: string | null
}

export interface LinkListRow extends LinkRow {
  readonly files: number
  readonly folders: number
  readonly file_name: string | null
  readonly folder_name: string | null
  readonly downloads: number
  readonly uploads_name: string | null
}

const columns = [
  'links.id',
  'links.account_id',
  'links.slug',
  'links.name',
  'links.message',
  'links.password_hash',
  'links.ends_at',
  'links.created_at',
  'links.revoked_at',
  'links.max_downloads',
  'link_uploads.folder_id as uploads_into',
  'transfers.folder_id as transfer',
  'transfers.sender',
  'accounts.display_name',
] as const

const linksWithUploads = (db: Queryable) =>
  db
    .selectFrom('links')
    .leftJoin('link_uploads', 'link_uploads.link_id', 'links.id')
    .leftJoin('transfers', 'transfers.link_id', 'links.id')
    .innerJoin('accounts', 'accounts.id', 'links.account_id')

export const linkBySlug = lookup<LinkSlug, LinkRow>({
  column: 'links.slug',
  build: (db, isWanted) => linksWithUploads(db).select(columns).where(isWanted),
  valueIn: (row) => row.slug,
})

export const linkById = lookup<LinkId, LinkRow>({
  column: 'links.id',
  build: (db, isWanted) => linksWithUploads(db).select(columns).where(isWanted),
  valueIn: (row) => row.id,
})

export type LinkContent =
  | { readonly targets: { readonly files: ReadonlySet<FileId>; readonly folders: ReadonlySet<FolderId> } }
  | { readonly uploads: Omit<Insertable<Tables['link_uploads']>, 'link_id'> }

/** Throws a unique violation when the slug, or a lookalike, is taken. */
export async function insertLink(
  trx: Trx,
  link: Omit<Insertable<Tables['links']>, 'id' | 'revoked_at'>,
  opens: LinkContent,
): Promise<LinkId> {
  const { id } = await trx.insertInto('links').values(link).returning('id').executeTakeFirstOrThrow()
  if ('uploads' in opens) {
    await trx
      .insertInto('link_uploads')
      .values({ ...opens.uploads, link_id: id })
      .execute()
    return id
  }
  const { targets } = opens
  const rows = [
    ...[...targets.folders].map((folder_id) => ({ folder_id, file_id: null })),
    ...[...targets.files].map((file_id) => ({ folder_id: null, file_id })),
  ].map((target, position) => ({ link_id: id, position, ...target }))
  await trx.insertInto('link_targets').values(rows).execute()
  return id
}

/** Does nothing for a link that belongs to another account by now. */
export async function updateLink(
  trx: Trx,
  { id, account }: OwnedLink,
  change: Pick<
    Updateable<Tables['links']>,
    'name' | 'message' | 'password_hash' | 'ends_at' | 'max_downloads' | 'revoked_at' | 'end_notified'
  >,
): Promise<void> {
  await trx.updateTable('links').set(change).where('id', '=', id).where('account_id', '=', account).execute()
}

export async function updateLinkUploads(
  trx: Trx,
  link: LinkId,
  change: Omit<Updateable<Tables['link_uploads']>, 'link_id' | 'folder_id'>,
): Promise<void> {
  await trx.updateTable('link_uploads').set(change).where('link_id', '=', link).execute()
}

export async function countLiveLinks(db: Queryable, account: AccountId, now: number): Promise<number> {
  const { count } = await db
    .selectFrom('links')
    .select((link) => link.fn.countAll<number>().as('count'))
    .where('account_id', '=', account)
    .where('revoked_at', 'is', null)
    .where((link) => link.or([link('ends_at', 'is', null), link('ends_at', '>', now)]))
    .executeTakeFirstOrThrow()
  return count
}

export interface LinkSelection {
  readonly account: AccountId
  readonly within: FolderId | null
  readonly file?: FileId
  readonly folder?: FolderId
  readonly slug?: LinkSlug
}

function selected(db: Database, { account, within, file, folder, slug }: LinkSelection) {
  let links = linksWithUploads(db).where('links.account_id', '=', account)
  if (slug !== undefined) links = links.where('links.slug', '=', slug)
  if (file !== undefined) {
    links = links.where('links.id', 'in', (of) =>
      of.selectFrom('link_targets').select('link_id').where('file_id', '=', file),
    )
  }
  if (folder !== undefined) {
    links = links.where((link) =>
      link.or([
        link('link_uploads.folder_id', '=', folder),
        link('links.id', 'in', (of) =>
          of.selectFrom('link_targets').select('link_id').where('folder_id', '=', folder),
        ),
      ]),
    )
  }
  return within === null ? links : links.where(allWithin(within))
}

function allWithin(folder: FolderId) {
  return sql<SqlBool>`not exists (
    select 1 from link_targets
    left join files on files.id = link_targets.file_id and files.removed_at is null
    where link_targets.link_id = links.id
      and coalesce(coalesce(link_targets.folder_id, files.folder_id) not in ${treeOf(folder)}, true)
  ) and (link_uploads.folder_id is null or link_uploads.folder_id in ${treeOf(folder)})`
}

/** Newest first. */
export function listLinks(
  db: Database,
  selection: LinkSelection,
  offset: number,
  limit: number,
): Promise<LinkListRow[]> {
  const page = selected(db, selection)
    .select(columns)
    .select((link) => [
      downloadsOfLink.as('downloads'),
      link
        .selectFrom('link_targets')
        .whereRef('link_targets.link_id', '=', 'links.id')
        .select((target) => target.fn.count<number>('file_id').as('files'))
        .$asScalar()
        .$notNull()
        .as('files'),
      link
        .selectFrom('link_targets')
        .whereRef('link_targets.link_id', '=', 'links.id')
        .select((target) => target.fn.count<number>('folder_id').as('folders'))
        .$asScalar()
        .$notNull()
        .as('folders'),
      link
        .selectFrom('link_targets')
        .innerJoin('files', 'files.id', 'link_targets.file_id')
        .whereRef('link_targets.link_id', '=', 'links.id')
        .whereRef('files.account_id', '=', 'links.account_id')
        .where('files.removed_at', 'is', null)
        .select('files.name')
        .orderBy('link_targets.position')
        .limit(1)
        .as('file_name'),
      link
        .selectFrom('link_targets')
        .innerJoin('folders', 'folders.id', 'link_targets.folder_id')
        .whereRef('link_targets.link_id', '=', 'links.id')
        .where('folders.deleted_at', 'is', null)
        .select('folders.name')
        .orderBy('link_targets.position')
        .limit(1)
        .as('folder_name'),
      link
        .selectFrom('folders')
        .whereRef('folders.id', '=', 'link_uploads.folder_id')
        .where('folders.deleted_at', 'is', null)
        .select('folders.name')
        .as('uploads_name'),
    ])
    .orderBy('links.id', 'desc')
    .limit(limit)
    .offset(offset)
  return db.readPool.rows(page)
}

export async function countLinks(db: Database, selection: LinkSelection): Promise<number> {
  const count = selected(db, selection).select((link) => link.fn.countAll<number>().as('count'))
  return (await db.readPool.rows(count))[0]?.count ?? 0
}

export async function dropExpiredLinks(db: Database, time: number, most: number): Promise<number> {
  const over = sql<number>`coalesce(revoked_at, ends_at)`
  const some = db
    .selectFrom('links')
    .select('id')
    .where((link) => link.or([link('revoked_at', 'is not', null), link('ends_at', 'is not', null)]))
    // The sender of a transfer may set another end.
    .where((link) => link.or([link('revoked_at', 'is not', null), link.not(isOfTransfer)]))
    .where(over, '<', time)
    .orderBy(over)
    .limit(most)
  const { numDeletedRows } = await db.deleteFrom('links').where('id', 'in', some).executeTakeFirst()
  return Number(numDeletedRows)
}

export interface LinkTargetRow {
  readonly file_id: FileId | null
  readonly folder_id: FolderId | null
}

/** As chosen, in their order; any may be gone. */
export const linkTargets: (db: Database, link: LinkId) => Promise<LinkTargetRow[]> = prepared(
  (db, link: LinkId) =>
    db
      .selectFrom('link_targets')
      .select(['file_id', 'folder_id'])
      .where('link_id', '=', link)
      .orderBy('position'),
)

/** In their order. Files that an account has claimed are no longer the guest's to share. */
export function targetFiles(db: Database, link: LinkId): Promise<FileListRow[]> {
  return db.read.rows(
    liveFiles(db)
      .innerJoin('link_targets', 'link_targets.file_id', 'files.id')
      .innerJoin('links', 'links.id', 'link_targets.link_id')
      .whereRef('links.account_id', '=', 'files.account_id')
      .where('link_targets.link_id', '=', link)
      .where(isThere('files.folder_id'))
      .orderBy('link_targets.position'),
  )
}

export function targetFolders(db: Database, link: LinkId): Promise<FolderListRow[]> {
  return db.read.rows(
    liveFolders(db)
      .innerJoin('link_targets', 'link_targets.folder_id', 'folders.id')
      .where('link_targets.link_id', '=', link)
      .where(isThere('link_targets.folder_id'))
      .orderBy('link_targets.position'),
  )
}

/** `folder` must not be a column of `folders`: the condition would take it for its own. */
function isThere(folder: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`not ${isBelowDeleted(folder)}`
}

/** Live files in the folders and below, by type. */
export async function typesIn(
  db: Database,
  folders: readonly { readonly id: FolderId }[],
): Promise<readonly (readonly [type: string, count: number])[]> {
  const rows = await db.readPool.rows(
    db
      .selectFrom('files')
      .select(({ fn }) => ['type', fn.countAll<number>().as('count')])
      .where('folder_id', 'in', treeOf(...folders.map(({ id }) => id)))
      .where('removed_at', 'is', null)
      .groupBy('type'),
  )
  return rows.map(({ type, count }) => [type, Number(count)])
}

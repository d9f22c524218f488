import { type RawBuilder, type SqlBool, sql } from 'kysely'
import * as z from 'zod/mini'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { forUpdate, wholeSum } from '../database/differences.ts'
import type { EndNotified } from '../domain/event-kinds.ts'
import type {
  AccountId,
  BlobKey,
  ContributionId,
  FileId,
  FolderId,
  LinkId,
  LinkSlug,
  Slug,
  UploadId,
  Uuid,
} from '../domain/ids.ts'
import {
  type Answers,
  type AskedField,
  isFull,
  type LinkUsage,
  type UploadTerms,
} from '../domain/upload-terms.ts'

export interface UploadLinkRow {
  readonly folder: FolderId
  readonly terms: UploadTerms
}

const asked = z.optional(z.enum(['optional', 'required']))
const askedFields = z.object({ sender: asked, address: asked, reference: asked })

/** Undefined for links that take no uploads. */
export async function uploadLinkOf(db: Queryable, link: LinkId): Promise<UploadLinkRow | undefined> {
  return (await uploadLinks(db, [link])).get(link)
}

export async function uploadLinks(
  db: Queryable,
  links: readonly LinkId[],
): Promise<ReadonlyMap<LinkId, UploadLinkRow>> {
  if (links.length === 0) return new Map()
  const rows = await db.selectFrom('link_uploads').selectAll().where('link_id', 'in', links).execute()
  return new Map(
    rows.map(({ link_id, folder_id: folder, max_files, max_size, max_file_size, types, fields }) => {
      const terms = {
        maxFiles: max_files,
        maxSize: max_size,
        maxFileSize: max_file_size,
        types: types === null ? null : types.split(','),
        fields: askedFields.parse(JSON.parse(fields)),
      }
      return [link_id, { folder, terms }]
    }),
  )
}

export interface LockedUploadLink {
  readonly revoked_at: number | null
  readonly ends_at: number | null
  readonly end_notified: EndNotified
  readonly disabled_at: number | null
}

/** Blocks contributions to the link until the transaction ends. */
export function lockUploadLink(trx: Trx, link: LinkId): Promise<LockedUploadLink | undefined> {
  return trx
    .selectFrom('links')
    .select(['revoked_at', 'ends_at', 'end_notified'])
    .select((row) =>
      row
        .selectFrom('accounts')
        .whereRef('accounts.id', '=', 'links.account_id')
        .select('disabled_at')
        .as('disabled_at'),
    )
    .where('id', '=', link)
    .modifyEnd(forUpdate(trx))
    .executeTakeFirst()
}

export async function setEndNotified(trx: Trx, link: LinkId, told: EndNotified): Promise<void> {
  await trx.updateTable('links').set({ end_notified: told }).where('id', '=', link).execute()
}

/** `uploads`: the condition for resumable uploads. */
const isThereOr = (uploads: RawBuilder<SqlBool>): RawBuilder<SqlBool> => sql`(
  files.id is not null
  or exists (select 1 from reservations where reservations.key = contributions.reservation)
  or exists (
    select 1 from uploads where uploads.uuid = contributions.file_uuid and uploads.ended_at is null and ${uploads}
  )
)`

/** Counts a contribution whose file is stored, or of which bytes have come: announcements would block others. */
export const hasPlace = isThereOr(sql`(uploads.reserved > 0 or uploads.state = 'processing')`)

const isOpen = isThereOr(sql`true`)

/** A resumable upload counts what was reserved. */
const placeSize: RawBuilder<number> = sql`case when files.id is not null then contributions.size else coalesce((
  select uploads.reserved from uploads
  where uploads.uuid = contributions.file_uuid and uploads.ended_at is null
), contributions.size) end`

export function contributions(db: Queryable) {
  return db
    .selectFrom('contributions')
    .leftJoin('files', (join) =>
      join.onRef('files.uuid', '=', 'contributions.file_uuid').on('files.removed_at', 'is', null),
    )
}

export async function linkUsage(db: Queryable, link: LinkId): Promise<LinkUsage> {
  return (await usageOfLinks(db, [link])).get(link) ?? NOTHING
}

export interface LinkUsageAndReceived extends LinkUsage {
  readonly received: LinkUsage
}

export async function isFullyReceived(db: Queryable, link: LinkId, terms: UploadTerms): Promise<boolean> {
  // The sum without a join of files is never less, and takes a tenth of the time.
  const announced = await contributions(db)
    .select(({ fn }) => [fn.countAll<number>().as('files'), wholeSum(db, 'contributions.size').as('size')])
    .where('contributions.link_id', '=', link)
    .executeTakeFirstOrThrow()
  return (
    isFull(terms, announced) && isFull(terms, (await usageOfLinks(db, [link])).get(link)?.received ?? NOTHING)
  )
}

const NOTHING: LinkUsage = { files: 0, size: 0 }

export async function usageOfLinks(
  db: Queryable,
  links: readonly LinkId[],
): Promise<ReadonlyMap<LinkId, LinkUsageAndReceived>> {
  if (links.length === 0) return new Map()
  const rows = await contributions(db)
    .select(({ fn }) => [
      'contributions.link_id',
      fn.countAll<number>().as('files'),
      fn.count<number>('files.id').as('come_files'),
      wholeSum(db, placeSize).as('size'),
      wholeSum(db, sql`case when files.id is not null then contributions.size else 0 end`).as('come_size'),
    ])
    .where('contributions.link_id', 'in', links)
    .where(hasPlace)
    .groupBy('contributions.link_id')
    .execute()
  return new Map(
    rows.map(({ link_id, files, size, come_files, come_size }) => [
      link_id,
      { files, size, received: { files: come_files, size: come_size } },
    ]),
  )
}

export async function insertContribution(
  trx: Trx,
  contribution: {
    readonly link_id: LinkId
    readonly file_uuid: Uuid
    readonly receipt: string
    readonly reservation: BlobKey | null
    readonly size: number
    readonly name: string
    readonly created_at: number
  },
  { sender = null, address = null, reference = null }: { readonly [Field in keyof Answers]?: string | null },
): Promise<void> {
  await trx
    .insertInto('contributions')
    .values({ ...contribution, sender, address, reference })
    .execute()
}

/** The file's row, or the name of an arriving file. */
export interface ListedContribution extends Required<{ readonly [Field in AskedField]: string | null }> {
  readonly file_uuid: Uuid
  readonly file_id: FileId | null
  readonly type: string | null
  readonly name: string | null
  readonly size: number
  readonly created_at: number
  readonly upload_slug: Slug | null
  readonly received: number | null
}

export function listContributions(
  db: Database,
  link: LinkId,
  offset: number,
  limit: number,
): Promise<ListedContribution[]> {
  return contributions(db)
    .leftJoin('uploads', (join) =>
      join.onRef('uploads.uuid', '=', 'contributions.file_uuid').on('uploads.ended_at', 'is', null),
    )
    .select([
      'uploads.slug as upload_slug',
      'uploads.received',
      'contributions.file_uuid',
      'contributions.sender',
      'contributions.address',
      'contributions.reference',
      'contributions.created_at',
      'files.id as file_id',
      'files.type',
      sql<string | null>`coalesce(files.name, uploads.name)`.as('name'),
      sql<number>`coalesce(files.size, contributions.size)`.as('size'),
    ])
    .where('contributions.link_id', '=', link)
    .where(hasPlace)
    .orderBy('contributions.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
}

export interface GivenContribution extends Required<{ readonly [Field in AskedField]: string | null }> {
  readonly id: ContributionId
  readonly file_uuid: Uuid
  readonly name: string
  readonly created_at: number
  readonly account_id: AccountId
  readonly owner: string
  readonly slug: LinkSlug
  readonly link_name: string | null
  readonly folder_id: FolderId
  readonly revoked_at: number | null
  readonly ends_at: number | null
}

export function contributionByReceipt(db: Database, receipt: string): Promise<GivenContribution | undefined> {
  return db
    .selectFrom('contributions')
    .innerJoin('links', 'links.id', 'contributions.link_id')
    .innerJoin('link_uploads', 'link_uploads.link_id', 'contributions.link_id')
    .innerJoin('accounts', 'accounts.id', 'links.account_id')
    .select([
      'contributions.id',
      'contributions.file_uuid',
      'contributions.name',
      'contributions.sender',
      'contributions.address',
      'contributions.reference',
      'contributions.created_at',
      'links.account_id',
      'accounts.username as owner',
      'links.slug',
      'links.name as link_name',
      'links.revoked_at',
      'links.ends_at',
      'link_uploads.folder_id',
    ])
    .where('contributions.receipt', '=', receipt)
    .executeTakeFirst()
}

export async function openUploadsOfLink(db: Database, link: LinkId, most: number): Promise<UploadId[]> {
  const rows = await db
    .selectFrom('contributions')
    .innerJoin('uploads', 'uploads.uuid', 'contributions.file_uuid')
    .select('uploads.id')
    .where('contributions.link_id', '=', link)
    .where('uploads.ended_at', 'is', null)
    .limit(most)
    .execute()
  return rows.map(({ id }) => id)
}

export async function dropContribution(db: Database, id: ContributionId): Promise<void> {
  await db.deleteFrom('contributions').where('id', '=', id).execute()
}

/** Deletes up to `most` from before `time` whose files neither exist nor arrive; returns how many. */
export async function deleteAbandonedContributions(
  db: Database,
  time: number,
  most: number,
): Promise<number> {
  const some = contributions(db)
    .select('contributions.id')
    .where('contributions.created_at', '<', time)
    .where(sql<SqlBool>`not ${isOpen}`)
    .limit(most)
  const { numDeletedRows } = await db.deleteFrom('contributions').where('id', 'in', some).executeTakeFirst()
  return Number(numDeletedRows)
}

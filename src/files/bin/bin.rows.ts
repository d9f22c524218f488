import { sql } from 'kysely'
import { type Database, MOST_SKIPPED, type Queryable, type Trx } from '../../database/database.ts'
import { greatest, wholeSum } from '../../database/differences.ts'
import type { Row } from '../../database/schema.ts'
import type {
  AccountId,
  BinEntryId,
  FileId,
  FolderId,
  FolderIdentifier,
  Slug,
  Uuid,
} from '../../domain/ids.ts'
import { wholeTreeOf } from '../folders/folders.rows.ts'

export type BinEntryRow = Row<'bin'>

export type BinnedThing =
  | { readonly file_id: FileId; readonly folder_id: null }
  | { readonly file_id: null; readonly folder_id: FolderId }

export async function insertBinEntry(
  trx: Trx,
  entry: BinnedThing & {
    readonly account_id: AccountId
    readonly bytes: number
    readonly files: number
    readonly binned_at: number
  },
): Promise<BinEntryId> {
  const { id } = await trx.insertInto('bin').values(entry).returning('id').executeTakeFirstOrThrow()
  await countBin(trx, entry.account_id, entry.bytes, 1)
  return id
}

/** Negative numbers subtract. */
export async function countBin(trx: Trx, account: AccountId, bytes: number, entries: number): Promise<void> {
  await trx
    .updateTable('accounts')
    .set((row) => ({
      bin_bytes: row('bin_bytes', '+', bytes),
      bin_entries: row('bin_entries', '+', entries),
    }))
    .where('id', '=', account)
    .execute()
}

/** Excludes entries due for final deletion. */
export function keptEntries(db: Queryable) {
  return db
    .selectFrom('bin')
    .innerJoin('accounts', 'accounts.id', 'bin.account_id')
    .where((entry) =>
      entry.or([
        entry('accounts.bin_emptied', 'is', null),
        entry('bin.id', '>', entry.ref('accounts.bin_emptied')),
        entry('bin.restoring', '=', 1),
      ]),
    )
}

/** Includes an entry being restored. */
export function findBinEntry(
  db: Queryable,
  account: AccountId,
  id: BinEntryId,
): Promise<BinEntryRow | undefined> {
  return keptEntries(db)
    .selectAll('bin')
    .where('bin.id', '=', id)
    .where('bin.account_id', '=', account)
    .executeTakeFirst()
}

/** Finds an entry in any state. */
export function entryById(trx: Trx, id: BinEntryId): Promise<BinEntryRow | undefined> {
  return trx.selectFrom('bin').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Finds an entry in any state. */
export function entryOfFile(trx: Trx, file: FileId): Promise<BinEntryRow | undefined> {
  return trx.selectFrom('bin').selectAll().where('file_id', '=', file).executeTakeFirst()
}

/** Emptied entries will be deleted for good. */
export async function isEmptied(trx: Trx, { account_id, id }: BinEntryRow): Promise<boolean> {
  return (await findBinEntry(trx, account_id, id)) === undefined
}

export async function takeFromEntry(trx: Trx, id: BinEntryId, bytes: number): Promise<void> {
  await trx
    .updateTable('bin')
    .set((entry) => ({ bytes: entry('bytes', '-', bytes), files: entry('files', '-', 1) }))
    .where('id', '=', id)
    .execute()
}

/** Each of both kinds has columns of its own. */
export interface BinListRow extends BinEntryRow {
  readonly file_name: string | null
  readonly file_type: string | null
  readonly file_uuid: Uuid | null
  readonly file_slug: Slug | null
  readonly folder_name: string | null
  readonly folder_identifier: FolderIdentifier | null
  readonly place_id: FolderId
  /** Null at top level. */
  readonly place_identifier: FolderIdentifier | null
  readonly place_name: string
}

/** `tree` includes deleted folders; null: anywhere. */
export interface BinnedWhere {
  readonly account: AccountId
  readonly tree: FolderId | null
}

function entriesOf(db: Database, { account, tree }: BinnedWhere) {
  const entries = keptEntries(db).where('bin.account_id', '=', account)
  return tree === null ? entries : entries.where(oldPlace, 'in', wholeTreeOf(tree))
}

const oldPlace = sql<FolderId>`coalesce(
  (select folder_id from files where files.id = bin.file_id),
  (select parent_id from folders where folders.id = bin.folder_id)
)`

export async function placeOfEntry(db: Queryable, { id }: BinEntryRow): Promise<FolderId> {
  const entry = db.selectFrom('bin').select(oldPlace.as('place')).where('id', '=', id)
  return (await entry.executeTakeFirstOrThrow()).place
}

/** Excludes entries being restored. Reads every entry. */
export async function sumBin(
  db: Database,
  where: BinnedWhere,
): Promise<{ readonly bytes: number; readonly entries: number }> {
  const sums = entriesOf(db, where)
    .where('bin.restoring', '=', sql.lit(0))
    .select((row) => [wholeSum(db, 'bin.bytes').as('bytes'), row.fn.countAll<number>().as('entries')])
  const [sum] = await db.readPool.rows(sums)
  return sum ?? { bytes: 0, entries: 0 }
}

/** Newest first. */
export function listBin(
  db: Database,
  where: BinnedWhere,
  offset: number,
  limit: number,
): Promise<BinListRow[]> {
  const page = entriesOf(db, where).select('bin.id').orderBy('bin.id', 'desc').limit(limit).offset(offset)
  const entries = db
    .selectFrom('bin')
    .leftJoin('files', 'files.id', 'bin.file_id')
    .leftJoin('folders as binned', 'binned.id', 'bin.folder_id')
    .innerJoin('folders as places', (join) =>
      join.on((on) => on('places.id', '=', on.fn.coalesce('files.folder_id', 'binned.parent_id'))),
    )
    .selectAll('bin')
    .select([
      'files.name as file_name',
      'files.type as file_type',
      'files.uuid as file_uuid',
      'files.slug as file_slug',
      'binned.name as folder_name',
      'binned.identifier as folder_identifier',
      'places.id as place_id',
      'places.name as place_name',
    ])
    .select((row) =>
      row
        .case()
        .when('places.parent_id', 'is', null)
        .then(null)
        .else(row.ref('places.identifier'))
        .end()
        .as('place_identifier'),
    )
    .where('bin.id', 'in', page)
    .orderBy('bin.id', 'desc')
  return offset > MOST_SKIPPED || where.tree !== null ? db.readPool.rows(entries) : entries.execute()
}

export async function goneAmong(db: Database, folders: readonly FolderId[]): Promise<ReadonlySet<FolderId>> {
  if (folders.length === 0) return new Set()
  const { rows } = await sql<{ id: FolderId }>`
    with recursive up (start, id) as (
      select id, id from folders where id in (${sql.join(folders)})
      union all
      select up.start, folders.parent_id from up join folders on folders.id = up.id
      where folders.parent_id is not null
    )
    select distinct up.start as id from up join folders on folders.id = up.id
    where folders.deleted_at is not null`.execute(db)
  return new Set(rows.map((row) => row.id))
}

export async function dropBinEntry(trx: Trx, id: BinEntryId): Promise<void> {
  await trx.deleteFrom('bin').where('id', '=', id).execute()
}

/** Counts as a use by the owner. */
export async function returnFile(trx: Trx, id: FileId, folder: FolderId, at: number): Promise<void> {
  await trx
    .updateTable('files')
    .set({
      removed_at: null,
      removal: null,
      folder_id: folder,
      last_used_at: greatest(trx, 'last_used_at', at),
    })
    .where('id', '=', id)
    .execute()
}

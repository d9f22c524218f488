/** The rows of a file that is stored, as one statement: for PostgreSQL only. */
import { sql } from 'kysely'
import type { NewBlob } from '../core/blobs.rows.ts'
import type { Trx } from '../database/database.ts'
import { preparedChange } from '../database/prepared.ts'
import { type BlobId, type BlobKey, type FileId, type FolderId, GUESTS, type Sha256 } from '../domain/ids.ts'
import { sortKeyOfFolded } from '../domain/sort-key.ts'
import type { NewFile } from '../files/files.rows.ts'

/** What decides whether and how a file can be stored. */
export interface StoringConditions {
  /** Whether the folder or one above it is deleted. */
  readonly isFolderGone: boolean
  readonly isRefused: boolean
  /** The blob with the same content, locked, if there is one. */
  readonly known: { readonly id: BlobId; readonly key: BlobKey } | null
}

/** To be asked once account and content are locked. */
export async function storingConditions(
  trx: Trx,
  folder: FolderId,
  sha256: Sha256,
  size: number,
): Promise<StoringConditions> {
  const [row] = (await conditions(trx, folder, sha256, size)).rows
  if (row === undefined) throw new Error('conditions are always there')
  const { isFolderGone, isRefused, id, key } = row
  return { isFolderGone, isRefused, known: id === null || key === null ? null : { id, key } }
}

const conditions = preparedChange((trx: Trx, folder: FolderId, sha256: Sha256, size: number) => ({
  compile: () =>
    sql<{ isFolderGone: boolean; isRefused: boolean; id: BlobId | null; key: BlobKey | null }>`
      with recursive chain (parent_id, deleted_at) as (
        select parent_id, deleted_at from folders where id = ${folder}
        union all
        select folders.parent_id, folders.deleted_at from folders join chain on folders.id = chain.parent_id
      ),
      content (sha256, size) as (values (cast(${sha256} as text), cast(${size} as bigint))),
      known as (
        select blobs.id, blobs.key from blobs, content
        where blobs.sha256 = content.sha256 and blobs.size = content.size
        for update of blobs
      )
      select
        exists (select from chain where deleted_at is not null) as "isFolderGone",
        exists (select from refused_contents, content where refused_contents.sha256 = content.sha256)
          as "isRefused",
        known.id, known.key
      from content left join known on true`.compile(trx),
}))

/**
 * Inserts the file and its blob, unless that is known, notes whether a thumbnail is wanted, counts the file in its
 * account and folders, and notes the change. Throws a unique violation when slug, UUID or content are taken.
 */
export async function insertStoredFile(
  trx: Trx,
  file: Omit<NewFile, 'blob_id'>,
  blob: NewBlob,
  known: BlobId | null,
  thumbnail: 'wanted' | 'none' | null,
): Promise<FileId> {
  const { name_folded } = file
  const { rows } = await insertAll(
    trx,
    known,
    blob.key,
    blob.sha256,
    blob.crc32,
    thumbnail,
    file.uuid,
    file.slug,
    file.account_id,
    file.folder_id,
    file.name,
    name_folded,
    sortKeyOfFolded(name_folded),
    file.size,
    file.type,
    file.created_at,
  )
  const [added] = rows
  if (added === undefined) throw new Error('a new file has an id')
  return added.id
}

const insertAll = preparedChange(
  (
    trx: Trx,
    known: number | null,
    key: string,
    sha256: string,
    crc32: number,
    thumbnail: string | null,
    uuid: string,
    slug: string,
    account: number,
    folder: number,
    name: string,
    folded: string,
    sort: string,
    size: number,
    type: string,
    now: number,
  ) => ({
    compile: () =>
      sql<{ id: FileId }>`
        with recursive given (
          known, key, sha256, crc32, thumbnail, uuid, slug, account, folder, name, folded, sort, size, type, now
        ) as (
          values (
            cast(${known} as bigint), cast(${key} as text), cast(${sha256} as text), cast(${crc32} as bigint),
            cast(${thumbnail} as text), cast(${uuid} as text), cast(${slug} as text),
            cast(${account} as bigint), cast(${folder} as bigint), cast(${name} as text),
            cast(${folded} as text), cast(${sort} as text), cast(${size} as bigint), cast(${type} as text),
            cast(${now} as bigint)
          )
        ),
        chain (id, parent_id) as (
          select folders.id, folders.parent_id from folders join given on folders.id = given.folder
          union all
          select folders.id, folders.parent_id from folders join chain on folders.id = chain.parent_id
        ),
        added as (
          insert into blobs (key, sha256, crc32, size, refs, created_at)
          select key, sha256, crc32, size, 1, now from given where known is null
          returning id
        ),
        blob (id) as (select known from given where known is not null union all select id from added),
        thumbnail as (
          insert into thumbnails (blob_id, state, due_at)
          select blob.id, given.thumbnail, given.now from given, blob where given.thumbnail is not null
          on conflict (blob_id) do nothing
        ),
        file as (
          insert into files (
            uuid, slug, account_id, folder_id, blob_id, name, name_folded, name_sort, size, type, created_at,
            last_used_at
          )
          select uuid, slug, account, folder, blob.id, name, folded, sort, size, type, now, now
          from given, blob
          returning id
        ),
        totals as (
          update accounts set storage_used = storage_used + given.size, files_count = files_count + 1
          from given where accounts.id = given.account
        ),
        sums as (
          update folders
          set
            file_count = file_count + case when folders.id = given.folder then 1 else 0 end,
            tree_files = tree_files + 1,
            tree_bytes = tree_bytes + given.size
          from given, chain where folders.id = chain.id
        ),
        change as (
          insert into changes (account_id, kind, file_id, place)
          select given.account, 'file.added', file.id,
            case when folders.parent_id is null then 'root' else folders.identifier end
          from given, file, folders
          where folders.id = given.folder and given.account <> ${sql.lit(GUESTS)}
        )
        select id from file`.compile(trx),
  }),
)

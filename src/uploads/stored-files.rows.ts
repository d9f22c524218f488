import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { hasSpace } from '../core/accounts.rows.ts'
import type { NewBlob } from '../core/blobs.rows.ts'
import type { Queryable } from '../database/database.ts'
import { preparedStatement } from '../database/prepared.ts'
import type { NewFile } from '../database/schema.ts'
import { type BlobKey, type FileId, GUESTS } from '../domain/ids.ts'
import { sortKeyOfFolded } from '../domain/sort-key.ts'
import type { KeyNote } from './idempotency-keys.rows.ts'
/** PostgreSQL only. */

export interface NewRows {
  readonly file: Omit<NewFile, 'blob_id'>
  readonly blob: NewBlob
  /** Initial state of the thumbnail; null where none are made. */
  readonly thumbnail: { readonly state: 'wanted' | 'none'; readonly turn: number } | null
  readonly garbageDueAt: number
  /** Bytes. */
  readonly storageLimit: number
  readonly note: KeyNote | null
}

/** Without an id nothing was stored. */
export interface StoringResult {
  readonly id: FileId | null
  /** True also for a deleted ancestor. */
  readonly isFolderGone: boolean
  readonly isRefused: boolean
  /** Less than the file was reserved, and the account has no space left. */
  readonly isFull: boolean
}

/**
 * A blob of equal content has its copy replaced. Only if the `reservation` exists, which it ends, and the node still
 * has the note's key. Lock account and content before. Throws a unique violation when slug, UUID or content are taken.
 */
export function storingStatement(
  db: Queryable,
  { file, blob, thumbnail, garbageDueAt, storageLimit, note }: NewRows,
  reservation: BlobKey | null,
): CompiledQuery<StoringResult> {
  const values: Given = [
    reservation,
    blob.key,
    blob.sha256,
    blob.crc32,
    thumbnail?.state ?? null,
    thumbnail?.turn ?? 0,
    garbageDueAt,
    file.uuid,
    file.slug,
    file.account_id,
    file.folder_id,
    file.name,
    file.name_folded,
    sortKeyOfFolded(file.name_folded),
    file.size,
    file.type,
    file.created_at,
    storageLimit,
  ]
  // Without a reservation the transaction stores the note itself.
  if (note === null || reservation === null) return storing(db, ...values)
  const { uuid, slug } = file
  const { before, after } = note.around({ uuid, slug, size: file.size, sha256: blob.sha256 })
  return storingWithNote(db, note.caller, note.hash, note.node, before, after, ...values)
}

type Given = [
  reservation: string | null,
  key: string,
  sha256: string,
  crc32: number,
  thumbnail: string | null,
  turn: number,
  garbageDueAt: number,
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
  limit: number,
]

const storing = preparedStatement((db: Queryable, ...values: Given) => ({
  compile: () => statement(given(values), sql``, sql``).compile(db),
}))

const storingWithNote = preparedStatement(
  (
    db: Queryable,
    caller: string,
    hash: string,
    node: string,
    before: string,
    after: string,
    ...values: Given
  ) => ({
    compile: () =>
      statement(
        sql`
          note (caller, hash, node, before, after) as (
            values (
              cast(${caller} as text), cast(${hash} as text), cast(${node} as text), cast(${before} as text),
              cast(${after} as text)
            )
          ),
          held as materialized (
            select uses.hash
            from idempotency_keys as uses
              join note on uses.caller = note.caller and uses.hash = note.hash and uses.node = note.node
            for update of uses
          ),
          ${given(values)}`,
        sql`and exists (select from held)`,
        sql`,
          noted as (
            update idempotency_keys as uses
            set node = null, result = note.before || file.id || note.after
            from note, file where uses.caller = note.caller and uses.hash = note.hash
          )`,
      ).compile(db),
  }),
)

function given([
  reservation,
  key,
  sha256,
  crc32,
  thumbnail,
  turn,
  garbageDueAt,
  uuid,
  slug,
  account,
  folder,
  name,
  folded,
  sort,
  size,
  type,
  now,
  limit,
]: Given): RawBuilder<unknown> {
  return sql`
    given (
      reservation, key, sha256, crc32, thumbnail, turn, garbage_due, uuid, slug, account, folder, name, folded, sort, size,
      type, now, most
    ) as (
      values (
        cast(${reservation} as text), cast(${key} as text), cast(${sha256} as text), cast(${crc32} as bigint),
        cast(${thumbnail} as text), cast(${turn} as bigint), cast(${garbageDueAt} as bigint), cast(${uuid} as text), cast(${slug} as text),
        cast(${account} as bigint), cast(${folder} as bigint), cast(${name} as text),
        cast(${folded} as text), cast(${sort} as text), cast(${size} as bigint), cast(${type} as text),
        cast(${now} as bigint), cast(${limit} as bigint)
      )
    )`
}

/** `condition`: a further precondition; `noted`: a further change once the file has an id. */
function statement(
  tables: RawBuilder<unknown>,
  condition: RawBuilder<unknown>,
  noted: RawBuilder<unknown>,
): RawBuilder<StoringResult> {
  return sql<StoringResult>`
    with recursive ${tables},
    chain (id, parent_id, deleted_at) as (
      select folders.id, folders.parent_id, folders.deleted_at
      from folders join given on folders.id = given.folder
      union all
      select folders.id, folders.parent_id, folders.deleted_at
      from folders join chain on folders.id = chain.parent_id
    ),
    verdict (folder_gone, refused, is_full) as (
      select
        exists (select from chain where deleted_at is not null),
        exists (select from refused_contents, given where refused_contents.sha256 = given.sha256),
        exists (
          select from given
            join reservations on reservations.key = given.reservation
            join accounts on accounts.id = given.account
          where reservations.bytes < given.size
            and not ${hasSpace(sql`given.size - reservations.bytes`, sql`given.most`)}
        )
    ),
    ended as (
      delete from reservations using given, verdict
      where reservations.key = given.reservation
        and not verdict.folder_gone and not verdict.refused and not verdict.is_full ${condition}
      returning reservations.bytes
    ),
    accepted as (
      select given.*, ended.bytes as reserved from given, ended
      union all
      select given.*, 0 from given, verdict
      where given.reservation is null and not verdict.folder_gone and not verdict.refused
    ),
    known as (
      select blobs.id, blobs.key
      from blobs join accepted on blobs.sha256 = accepted.sha256 and blobs.size = accepted.size
      for update of blobs
    ),
    replaced as (
      update blobs set key = accepted.key, created_at = accepted.now, verified_at = null, refs = refs + 1
      from known, accepted where blobs.id = known.id
    ),
    garbage as (
      insert into blob_garbage (key, due_at) select known.key, accepted.garbage_due from known, accepted
      on conflict (key) do nothing
    ),
    added as (
      insert into blobs (key, sha256, crc32, size, refs, created_at)
      select key, sha256, crc32, size, 1, now from accepted where not exists (select from known)
      returning id
    ),
    blob (id) as (select id from known union all select id from added),
    thumbnail as (
      insert into thumbnails (blob_id, state, turn, due_at)
      select blob.id, accepted.thumbnail, accepted.turn, accepted.now from accepted, blob
      where accepted.thumbnail is not null
      on conflict (blob_id) do nothing
    ),
    file as (
      insert into files (
        uuid, slug, account_id, folder_id, blob_id, name, name_folded, name_sort, size, type, created_at,
        last_used_at
      )
      select uuid, slug, account, folder, blob.id, name, folded, sort, size, type, now, now
      from accepted, blob
      returning id
    ),
    totals as (
      update accounts
      set
        storage_used = storage_used + accepted.size,
        storage_reserved = storage_reserved - accepted.reserved,
        files_count = files_count + 1
      from accepted where accounts.id = accepted.account
    ),
    sums as (
      update folders
      set
        file_count = file_count + case when folders.id = accepted.folder then 1 else 0 end,
        tree_files = tree_files + 1,
        tree_bytes = tree_bytes + accepted.size
      from accepted, chain where folders.id = chain.id
    ),
    change as (
      insert into changes (account_id, kind, file_id, place)
      select accepted.account, 'file.added', file.id,
        case when folders.parent_id is null then 'root' else folders.identifier end
      from accepted, file, folders
      where folders.id = accepted.folder and accepted.account <> ${sql.lit(GUESTS)}
    )${noted}
    select (select id from file) as id, folder_gone as "isFolderGone", refused as "isRefused",
      is_full as "isFull"
    from verdict`
}

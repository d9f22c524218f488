import { sql } from 'kysely'
import type { Queryable } from '../database/database.ts'
import type { Row } from '../database/schema.ts'
import type { FileIdentifier, FolderId, FolderIdentifier } from '../domain/ids.ts'

const fileColumns = ['id', 'uuid', 'slug', 'account_id', 'folder_id', 'size', 'removed_at'] as const

export type IdentifiedFile = Row<'files', (typeof fileColumns)[number]>

/** Finds files of any owner, also in deleted folders. */
export async function filesByIdentifier(
  db: Queryable,
  identifiers: readonly FileIdentifier[],
): Promise<IdentifiedFile[]> {
  const ids = identifiers.flatMap((each) => (each.kind === 'id' ? [each.id] : []))
  const uuids = identifiers.flatMap((each) => (each.kind === 'uuid' ? [each.uuid] : []))
  const slugs = identifiers.flatMap((each) => (each.kind === 'slug' ? [each.slug] : []))
  const files = db.selectFrom('files').select(fileColumns)
  // One kind at a time, without other conditions, for which SQLite might take another index.
  const found = [
    ...(ids.length > 0 ? await files.where('id', 'in', ids).execute() : []),
    ...(uuids.length > 0 ? await files.where('uuid', 'in', uuids).execute() : []),
    ...(slugs.length > 0 ? await files.where('slug', 'in', slugs).execute() : []),
  ]
  return found.filter((file) => file.removed_at === null)
}

const folderColumns = [
  'id',
  'identifier',
  'account_id',
  'parent_id',
  'tree_files',
  'tree_bytes',
  'tree_folders',
  'deleted_at',
] as const

export type IdentifiedFolder = Row<'folders', (typeof folderColumns)[number]>

/** As `filesByIdentifier`. */
export async function foldersByIdentifier(
  db: Queryable,
  identifiers: readonly FolderIdentifier[],
): Promise<IdentifiedFolder[]> {
  if (identifiers.length === 0) return []
  const folders = db.selectFrom('folders').select(folderColumns).where('identifier', 'in', identifiers)
  return (await folders.execute()).filter((folder) => folder.deleted_at === null && folder.parent_id !== null)
}

export interface ChainStep {
  readonly identifier: FolderIdentifier
  readonly deleted_at: number | null
}

/** Outermost first. A top level has no steps. */
export async function folderChains(
  db: Queryable,
  ids: readonly FolderId[],
): Promise<ReadonlyMap<FolderId, readonly ChainStep[]>> {
  const chains = new Map<FolderId, ChainStep[]>()
  if (ids.length === 0) return chains
  const { rows } = await sql<ChainStep & { readonly start: FolderId }>`
    with recursive chain (start, id, parent_id, height) as (
      select id, id, parent_id, 0 from folders where id in (${sql.join(ids)})
      union all
      select chain.start, folders.id, folders.parent_id, chain.height + 1
      from folders join chain on folders.id = chain.parent_id
    )
    select chain.start as start, identifier, deleted_at
    from chain join folders on folders.id = chain.id
    where folders.parent_id is not null or folders.deleted_at is not null
    order by chain.start, chain.height desc`.execute(db)
  for (const { start, ...step } of rows) {
    const chain = chains.get(start) ?? []
    chain.push(step)
    chains.set(start, chain)
  }
  return chains
}

/** Requests that name many files or folders, which may repeat or contain each other. */

import { sql } from 'kysely'
import type { Database, Queryable } from '../database/database.ts'
import type { Row } from '../database/schema.ts'
import type { Reach } from '../domain/access.ts'
import { yieldToEventLoop } from '../domain/clock.ts'
import { type ErrorCode, Refusal } from '../domain/errors.ts'
import type { FileId, FileIdentifier, FolderId, FolderIdentifier } from '../domain/ids.ts'

export type Outcome<Result> =
  | { readonly done: true; readonly result: Result }
  | { readonly done: false; readonly error: ErrorCode }

/** In order; a refused one does not stop those after it. */
export async function eachByItself<Thing, Result>(
  things: readonly Thing[],
  work: (thing: Thing) => Promise<Result>,
): Promise<Outcome<Result>[]> {
  const outcomes: Outcome<Result>[] = []
  for (const thing of things) {
    try {
      outcomes.push({ done: true, result: await work(thing) })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      outcomes.push({ done: false, error: error.code })
    }
    await yieldToEventLoop()
  }
  return outcomes
}

/** One result for each name, and how many were done. `more`: what a result says besides its name. */
export function batchResults<Name extends object, Result, More extends object>(
  names: readonly Name[],
  outcomes: readonly Outcome<Result>[],
  more: (result: Result) => More,
) {
  const results = names.map((name, at) => {
    const outcome = outcomes[at]
    return outcome?.done === true
      ? { ...name, success: true, ...more(outcome.result) }
      : { ...name, success: false, error: outcome?.error }
  })
  const done = results.filter(({ success }) => success).length
  return { done, failed: results.length - done, results }
}

const BLOCK = 50

/** In order; yields to the event loop between blocks. */
export async function* inBlocks<T>(things: readonly T[]): AsyncGenerator<readonly T[]> {
  for (let at = 0; at < things.length; at += BLOCK) {
    yield things.slice(at, at + BLOCK)
    await yieldToEventLoop()
  }
}

export async function ownFilesByIdentifier(
  db: Queryable,
  reach: Reach,
  identifiers: readonly FileIdentifier[],
): Promise<IdentifiedFile[]> {
  const own = (await filesByIdentifier(db, identifiers)).filter((file) => file.account_id === reach.account)
  const chains = await folderChains(db, [...new Set(own.map((file) => file.folder_id))])
  return own.filter((file) => isReached(reach, chains.get(file.folder_id)))
}

/** In the order named. */
export async function ownFoldersByIdentifier(
  db: Queryable,
  reach: Reach,
  identifiers: readonly FolderIdentifier[],
): Promise<(IdentifiedFolder & { readonly chain: readonly ChainStep[] })[]> {
  const own = (await foldersByIdentifier(db, identifiers)).filter(
    (folder) => folder.account_id === reach.account,
  )
  const chains = await folderChains(
    db,
    own.map((folder) => folder.id),
  )
  const found = new Map(own.map((folder) => [folder.identifier, folder]))
  return identifiers
    .flatMap((identifier) => found.get(identifier) ?? [])
    .map((folder) => ({ ...folder, chain: chains.get(folder.id) ?? [] }))
    .filter(({ chain }) => isReached(reach, chain))
}

function isReached({ within }: Reach, chain: readonly ChainStep[] = []): boolean {
  if (chain.some((step) => step.deleted_at !== null)) return false
  return within === null || chain.some((step) => step.identifier === within)
}

/** `undefined` out of reach, so that a caller cannot learn which names belong to one foreign file. */
export async function resolveFiles(
  db: Database,
  reach: Reach,
  identifiers: readonly FileIdentifier[],
): Promise<(FileId | undefined)[]> {
  const named: (FileId | undefined)[] = []
  for await (const block of inBlocks(identifiers)) {
    const ids = new Map<string | number, FileId>()
    for (const { id, uuid, slug } of await ownFilesByIdentifier(db, reach, block)) {
      ids.set(id, id).set(uuid, id).set(slug, id)
    }
    for (const identifier of block) named.push(ids.get(textOf(identifier)))
  }
  return named
}

function textOf(identifier: FileIdentifier): string | number {
  if (identifier.kind === 'id') return identifier.id
  return identifier.kind === 'uuid' ? identifier.uuid : identifier.slug
}

/** Outermost first. */
export async function enclosingFolders(
  db: Database,
  reach: Reach,
  identifiers: readonly FolderIdentifier[],
): Promise<ReadonlyMap<FolderIdentifier, readonly FolderIdentifier[]>> {
  const around = new Map<FolderIdentifier, readonly FolderIdentifier[]>()
  const named = new Set(identifiers)
  for await (const block of inBlocks(identifiers)) {
    for (const { identifier, chain } of await ownFoldersByIdentifier(db, reach, block)) {
      around.set(identifier, enclosingAmong(identifier, chain, named))
    }
  }
  return around
}

/** Outermost first. */
export function enclosingAmong(
  folder: FolderIdentifier,
  chain: readonly ChainStep[],
  others: ReadonlySet<FolderIdentifier>,
): FolderIdentifier[] {
  return chain
    .map((step) => step.identifier)
    .filter((identifier) => identifier !== folder && others.has(identifier))
}

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

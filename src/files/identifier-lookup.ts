/** Identifiers of one request may repeat or contain each other. */

import type { Database, Queryable } from '../database/database.ts'
import type { Reach } from '../domain/access.ts'
import { yieldToEventLoop } from '../domain/clock.ts'
import type { FileId, FileIdentifier, FolderIdentifier } from '../domain/ids.ts'
import {
  type ChainStep,
  filesByIdentifier,
  folderChains,
  foldersByIdentifier,
  type IdentifiedFile,
  type IdentifiedFolder,
} from './identifier-lookup.rows.ts'

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

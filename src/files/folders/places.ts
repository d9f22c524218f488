import { topFolder } from '../../core/accounts.rows.ts'
import type { Queryable } from '../../database/database.ts'
import {
  type Actor,
  assertMayWiden,
  type Exposure,
  exposesMore,
  mayWiden,
  type Reach,
} from '../../domain/access.ts'
import { Refusal } from '../../domain/errors.ts'
import type { FolderId, FolderIdentifier, FolderPlace, LinkId } from '../../domain/ids.ts'
import {
  type ChainRow,
  type FolderListRow,
  findFolder,
  folderChain,
  folderOrBelowDeleted,
} from './folders.rows.ts'

/** Throws Refusal FOLDER_NOT_FOUND, also for a foreign folder. */
export async function ownFolder(
  db: Queryable,
  reach: Reach,
  identifier: FolderIdentifier,
): Promise<FolderListRow> {
  const folder = await findFolder(db, identifier)
  if (folder === undefined || folder.account_id !== reach.account) throw folderNotFound()
  if (identifier !== reach.within && !(await isWithin(db, reach, folder.id))) throw folderNotFound()
  return withinReach(reach, folder)
}

/** Hides what is above the reach. */
export function withinReach(reach: Reach, folder: FolderListRow): FolderListRow {
  return folder.identifier === reach.within ? { ...folder, parent_identifier: null } : folder
}

/** Queries nothing for a whole account. */
export async function isWithin(db: Queryable, { within }: Reach, folder: FolderId): Promise<boolean> {
  if (within === null) return true
  const chain = await folderChain(db, folder)
  return chain.some((step) => step.identifier === within) && chain.every((step) => step.deleted_at === null)
}

/** `isWithin`, also across deleted folders. */
export async function wasWithin(db: Queryable, { within }: Reach, folder: FolderId): Promise<boolean> {
  if (within === null) return true
  const chain = await folderChain(db, folder)
  const top = chain.findIndex((step) => step.identifier === within)
  return top !== -1 && chain.slice(0, top + 1).every((step) => step.deleted_at === null)
}

/** `root` is the top of the reach. Throws Refusal FOLDER_NOT_FOUND. */
export async function resolvePlace(db: Queryable, reach: Reach, place: FolderPlace): Promise<FolderId> {
  return (await placeAndTransfer(db, reach, place)).folder
}

/** `resolvePlace`, and the transfer that the folder is or lies in. */
export async function placeAndTransfer(
  db: Queryable,
  { account, within }: Reach,
  place: FolderPlace,
): Promise<{ readonly folder: FolderId; readonly transfer: FolderId | null }> {
  const identifier = place === 'root' ? within : place
  if (identifier === null) return { folder: await topFolder(db, account), transfer: null }
  const found = await folderOrBelowDeleted(db, identifier)
  if (found === undefined || found.account_id !== account) throw folderNotFound()
  const chain = await livingChain(db, found.id)
  if (within !== null && !chain.some((step) => step.identifier === within)) throw folderNotFound()
  return { folder: found.id, transfer: transferIn(chain) }
}

/** Throws Refusal FOLDER_NOT_FOUND. */
export async function assertFolderExists(db: Queryable, folder: FolderId): Promise<void> {
  await livingChain(db, folder)
}

/** Outermost first. Throws Refusal FOLDER_NOT_FOUND. */
export async function livingChain(db: Queryable, folder: FolderId): Promise<readonly ChainRow[]> {
  const chain = await folderChain(db, folder)
  if (chain.some((step) => step.deleted_at !== null)) throw folderNotFound()
  return chain
}

/** The innermost transfer that a folder is or lies in. */
export function transferIn(chain: readonly ChainRow[]): FolderId | null {
  return chain.findLast((step) => step.is_transfer === 1)?.id ?? null
}

export function folderNotFound(): Refusal {
  return new Refusal('FOLDER_NOT_FOUND', 'There is no such folder')
}

/**
 * Call when relocating. Throws Refusal SCOPE_MISSING when more people may see the items and the caller may not read.
 */
export async function assertMayPlace(
  trx: Queryable,
  actor: Actor,
  { from, to, now }: { readonly from: FolderId; readonly to: FolderId; readonly now: number },
): Promise<void> {
  if (from === to || mayWiden(actor)) return
  if (exposesMore(await exposureOf(trx, from, now), await exposureOf(trx, to, now))) assertMayWiden(actor)
}

async function exposureOf(trx: Queryable, folder: FolderId, now: number): Promise<Exposure> {
  const chain = await folderChain(trx, folder)
  const folders = chain.map(({ id }) => id)
  return {
    isPublic: chain.every((step) => step.is_public === 1),
    locked: new Set(chain.filter((step) => step.password_hash !== null).map(({ id }) => id)),
    links: new Set(await livingLinksTo(trx, folders, now)),
  }
}

/** Neither revoked nor ended. */
async function livingLinksTo(db: Queryable, folders: readonly FolderId[], now: number): Promise<LinkId[]> {
  if (folders.length === 0) return []
  const rows = await db
    .selectFrom('link_targets')
    .innerJoin('links', 'links.id', 'link_targets.link_id')
    .select('links.id')
    .distinct()
    .where('link_targets.folder_id', 'in', folders)
    .where('links.revoked_at', 'is', null)
    .where((link) => link.or([link('links.ends_at', 'is', null), link('links.ends_at', '>', now)]))
    .execute()
  return rows.map(({ id }) => id)
}

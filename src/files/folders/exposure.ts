import type { Queryable } from '../../database/database.ts'
import { type Actor, assertMayWiden, type Exposure, exposesMore, mayWiden } from '../../domain/access.ts'
import type { FolderId, LinkId } from '../../domain/ids.ts'
import { folderChain } from './folders.rows.ts'

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

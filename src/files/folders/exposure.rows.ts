import type { Queryable } from '../../database/database.ts'
import type { FolderId, LinkId } from '../../domain/ids.ts'

/** Neither revoked nor ended. */
export async function livingLinksTo(
  db: Queryable,
  folders: readonly FolderId[],
  now: number,
): Promise<LinkId[]> {
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

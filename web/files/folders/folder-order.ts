import type { FolderEntry } from '../entry.ts'
import type { Query } from '../list/listing.ts'
import type { FolderTree } from './folder-tree.ts'

/** In the order of the files where folders have that value; else by name. */
export function foldersListed(
  { place, search, sort, order }: Query,
  tree: FolderTree,
): readonly FolderEntry[] {
  const byName = search === '' ? tree.children(place) : tree.search(search)
  if (sort === 'name') return order === 'asc' ? byName : byName.toReversed()
  if (sort !== 'created_at') return byName
  const sign = order === 'asc' ? 1 : -1
  return byName.toSorted((a, b) => {
    if (a.createdAt === b.createdAt) return 0
    return a.createdAt < b.createdAt ? -sign : sign
  })
}

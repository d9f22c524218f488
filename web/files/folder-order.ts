import type { FolderEntry } from './entry.ts'
import type { FolderTree } from './folder-tree.ts'
import type { Query } from './listing.ts'

/** The folders among what is listed, in the order of the files as far as folders have one; else by name. */
export function foldersListed(
  { place, search, sort, order }: Query,
  tree: FolderTree | null,
  locale: string,
): readonly FolderEntry[] {
  const { compare } = new Intl.Collator(locale, { numeric: true })
  const found = search === '' ? tree?.children(place) : tree?.search(search)
  const sign = order === 'asc' ? 1 : -1
  return [...(found ?? [])].sort((a, b) => {
    if (sort === 'created_at' && a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -sign : sign
    return compare(a.name, b.name) * (sort === 'name' ? sign : 1)
  })
}

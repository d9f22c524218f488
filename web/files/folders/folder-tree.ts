import { foldName, sortedByName } from '../../../src/domain/sort-key.ts'
import { type FolderEntry, type Place, TOP } from '../entry.ts'

/** Names are in the order of the server's lists. */
export interface FolderTree {
  find(id: Place): FolderEntry | null
  children(id: Place): readonly FolderEntry[]
  /** From the top level down, including the folder itself. */
  path(id: Place): readonly FolderEntry[]
  isWithin(id: Place, above: Place): boolean
  /** Including descendants. */
  fileCount(folder: FolderEntry): number
  search(part: string): readonly FolderEntry[]
}

export function createFolderTree(folders: readonly FolderEntry[]): FolderTree {
  const byId = new Map(folders.map((folder) => [folder.id, folder]))
  const sorted = sortedByName(folders, ({ name }) => name)
  const byPlace = Map.groupBy(sorted, ({ place }) => place)

  function path(id: Place): readonly FolderEntry[] {
    const found: FolderEntry[] = []
    for (let at = byId.get(id); at !== undefined && !found.includes(at); at = byId.get(at.place))
      found.unshift(at)
    return found
  }

  const counts = new Map<Place, number>()
  function fileCount({ id, fileCount: own }: FolderEntry): number {
    const known = counts.get(id)
    if (known !== undefined) return known
    // Ends a cycle, which crossing moves may show for a moment.
    counts.set(id, 0)
    const count = (byPlace.get(id) ?? []).reduce((sum, inner) => sum + fileCount(inner), own)
    counts.set(id, count)
    return count
  }

  return {
    find: (id) => byId.get(id) ?? null,
    children: (id) => byPlace.get(id) ?? [],
    path,
    fileCount,
    isWithin: (id, above) => above === TOP || path(id).some((folder) => folder.id === above),
    search(part) {
      const wanted = foldName(part)
      return sorted.filter(({ name }) => foldName(name).includes(wanted))
    },
  }
}

/** One line of a tree as it is shown. `folder` null: the top level. */
export interface TreeBranch {
  readonly id: Place
  readonly folder: FolderEntry | null
  readonly level: number
  readonly position: number
  readonly siblings: number
  readonly isOpen: boolean | null
}

/** The top level is always open. */
export function branches(tree: FolderTree, open: ReadonlySet<Place>): TreeBranch[] {
  const shown: TreeBranch[] = [
    {
      id: TOP,
      folder: null,
      level: 1,
      position: 1,
      siblings: 1,
      isOpen: tree.children(TOP).length > 0 || null,
    },
  ]
  const show = (place: Place, level: number) => {
    const folders = tree.children(place)
    for (const [index, folder] of folders.entries()) {
      const isOpen = tree.children(folder.id).length === 0 ? null : open.has(folder.id)
      shown.push({ id: folder.id, folder, level, position: index + 1, siblings: folders.length, isOpen })
      if (isOpen === true) show(folder.id, level + 1)
    }
  }
  show(TOP, 2)
  return shown
}

export type TreeMove =
  | { readonly kind: 'focus'; readonly id: Place }
  | { readonly kind: 'open' | 'close'; readonly id: Place }

/** Null for keys without an effect. */
export function treeMove(key: string, shown: readonly TreeBranch[], at: Place): TreeMove | null {
  const index = shown.findIndex(({ id }) => id === at)
  const branch = shown[index]
  if (branch === undefined) return null
  const focus = (to: TreeBranch | undefined): TreeMove | null =>
    to === undefined ? null : { kind: 'focus', id: to.id }
  switch (key) {
    case 'ArrowDown':
      return focus(shown[index + 1])
    case 'ArrowUp':
      return focus(shown[index - 1])
    case 'Home':
      return focus(shown[0])
    case 'End':
      return focus(shown.at(-1))
    case 'ArrowRight':
      if (branch.isOpen === false) return { kind: 'open', id: at }
      return branch.isOpen === true ? focus(shown[index + 1]) : null
    case 'ArrowLeft':
      if (branch.isOpen === true && branch.folder !== null) return { kind: 'close', id: at }
      return focus(shown.slice(0, index).findLast(({ level }) => level < branch.level))
    default:
      return null
  }
}

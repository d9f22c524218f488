import { sortedByName } from '../../src/domain/sort-key.ts'
import type { FolderEntry } from '../files/entry.ts'

export interface FolderPath {
  readonly id: string
  /** `Photos / 2026`. */
  readonly path: string
}

type Folder = Pick<FolderEntry, 'id' | 'name' | 'place'>

/** Where each folder is: by name, and what is in a folder behind it. */
export function pathsOf(folders: readonly Folder[]): FolderPath[] {
  const known = new Set(folders.map(({ id }) => id))
  const byName = sortedByName(folders, ({ name }) => name)
  const inside = Map.groupBy(byName, ({ place }) => place)

  function pathsIn(siblings: readonly Folder[], above: string): FolderPath[] {
    return siblings.flatMap(({ id, name }) => {
      const path = above + name
      return [{ id, path }, ...pathsIn(inside.get(id) ?? [], `${path} / `)]
    })
  }

  // Those whose parents are not among them are outermost, as a caller kept to one folder sees them.
  return pathsIn(
    byName.filter(({ place }) => !known.has(place)),
    '',
  )
}

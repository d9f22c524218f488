import type { FolderEntry } from '../files/entry.ts'

export interface FolderPath {
  readonly id: string
  /** `Photos / 2026`. */
  readonly path: string
}

/** Where each folder is, in the order of the paths. */
export function pathsOf(folders: readonly Pick<FolderEntry, 'id' | 'name' | 'place'>[]): FolderPath[] {
  const known = new Map(folders.map((folder) => [folder.id, folder]))
  const paths = new Map<string, string>()

  function pathOf(id: string): string {
    const folder = known.get(id)
    if (folder === undefined) return ''
    const earlier = paths.get(id)
    if (earlier !== undefined) return earlier
    const above = pathOf(folder.place)
    const path = above === '' ? folder.name : `${above} / ${folder.name}`
    paths.set(id, path)
    return path
  }

  const order = new Intl.Collator(undefined, { numeric: true })
  return folders
    .map(({ id }) => ({ id, path: pathOf(id) }))
    .sort((one, other) => order.compare(one.path, other.path))
}

import { byteList, numberList } from '../../domain/packed-lists.ts'
import type { ZipEntry } from './zip-records.ts'

/** Where the path of an entry begins when no folder of the archive holds it. */
export const ZIP_TOP = -1

export interface NewZipEntry {
  /** A folder that was added before, or ZIP_TOP. */
  readonly folder: number
  /** One path component. */
  readonly name: string
  readonly isFolder: boolean
  readonly size: number
  readonly crc32: number
  readonly modifiedAt: number
}

/** The files and folders of an archive in their order, numbered from 0: some 40 bytes and the name for each. */
export interface ZipEntries {
  readonly count: number
  /** Returns its number. */
  add(entry: NewZipEntry): number
  /** Bytes of its path. */
  pathLength(entry: number): number
  size(entry: number): number
  at(entry: number): ZipEntry
  /** What tells these entries from all others, check sums of their contents aside: bytes in several parts. */
  identity(): Iterable<Uint8Array>
  /** Gives the memory back; nothing is asked any more. */
  free(): void
}

const NOTHING = new Uint8Array(0)

export function zipEntries(): ZipEntries {
  const names = byteList()
  const nameStarts = numberList('f64')
  const pathLengths = numberList('u32')
  const folders = numberList('i32')
  const kinds = numberList('u8')
  const sizes = numberList('f64')
  const sums = numberList('u32')
  const times = numberList('f64')
  /** Most entries lie in the folder of the one before. */
  let last = { folder: ZIP_TOP, path: NOTHING }

  function pathOf(entry: number): Uint8Array {
    const folder = folderPath(folders.at(entry))
    const path = new Uint8Array(pathLengths.at(entry))
    path.set(folder)
    names.copy(nameStarts.at(entry), path.length - folder.length, path, folder.length)
    return path
  }

  function folderPath(folder: number): Uint8Array {
    if (folder === ZIP_TOP) return NOTHING
    if (last.folder !== folder) last = { folder, path: new Uint8Array(pathOf(folder)) }
    return last.path
  }

  return {
    get count() {
      return sizes.length
    },

    add({ folder, name, isFolder, size, crc32, modifiedAt }) {
      const component = isFolder ? `${name}/` : name
      nameStarts.push(names.push(component, 'utf8'))
      pathLengths.push((folder === ZIP_TOP ? 0 : pathLengths.at(folder)) + Buffer.byteLength(component))
      folders.push(folder)
      kinds.push(isFolder ? 1 : 0)
      sizes.push(size)
      sums.push(crc32)
      times.push(modifiedAt)
      return sizes.length - 1
    },

    *identity() {
      for (const list of [names, nameStarts, pathLengths, folders, kinds, sizes, times]) yield* list.blocks()
    },

    free() {
      for (const list of [names, nameStarts, pathLengths, folders, kinds, sizes, sums, times]) list.free()
    },

    pathLength: (entry) => pathLengths.at(entry),
    size: (entry) => sizes.at(entry),

    at: (entry) => ({
      path: pathOf(entry),
      isFolder: kinds.at(entry) === 1,
      size: sizes.at(entry),
      crc32: sums.at(entry),
      modifiedAt: times.at(entry),
    }),
  }
}

import { byteList, numberList } from '../../domain/packed-lists.ts'
import type { ZipEntry } from './zip-records.ts'

export const ZIP_TOP = -1

export interface NewZipEntry {
  /** A folder added before, or ZIP_TOP. */
  readonly folder: number
  readonly name: string
  readonly isFolder: boolean
  readonly size: number
  readonly crc32: number
  readonly modifiedAt: number
}

/** Numbered from 0, with some 40 bytes and the name for each. */
export interface ZipEntries {
  readonly count: number
  add(entry: NewZipEntry): number
  /** Bytes. */
  pathLength(entry: number): number
  size(entry: number): number
  at(entry: number): ZipEntry
  /** Covers all but the contents' checksums. */
  identity(): Iterable<Uint8Array>
  /** Do not use the entries any more. */
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

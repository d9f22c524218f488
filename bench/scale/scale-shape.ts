/** The shape of the account with very many files: which file is in which folder, and how large each is. */
import { repeatableRandom } from '../content.ts'
import { fileSize } from './scale-names.ts'

export interface ScaleSize {
  /** Number of files in the big tree, and of its folders including the root. */
  readonly files: number
  readonly folders: number
}

/** Files and folders of the account outside of the tree, whatever the size of the tree. */
export const OUTSIDE = { files: 1000, folders: 10 }
/** Files in one folder, independent of the tree's size. */
export const HEAP = 2500
/** Files in each of the ten largest folders, which only trees of a hundred times as many files have. */
const LARGEST = 10_000
const LEVELS = 6

/** The tree's root is folder 0; the folders outside of the tree come last. */
export interface ScaleShape {
  /** By file: a number from 0 to 1 that decides the kind of its name and its size. */
  readonly kinds: Float64Array
  readonly folderOf: Int32Array
  readonly sizes: Float64Array
  /** By folder; -1 at the top level. */
  readonly parents: Int32Array
  readonly fileCounts: Int32Array
  readonly treeFiles: Int32Array
  readonly treeBytes: Float64Array
  readonly treeFolders: Int32Array
  readonly treeHeights: Int32Array
  /** The folder of `HEAP` files. */
  readonly heap: number
}

/** Computed in whole before any row, because the rows of folders, which are written first, hold sums over their files. */
export function shapeOf(size: ScaleSize): ScaleShape {
  const shape = emptyShape(size)
  // So many children each that the tree has `LEVELS` levels at any size.
  const children = size.folders ** (1 / LEVELS)
  for (let index = 1; index < size.folders; index++) shape.parents[index] = Math.floor((index - 1) / children)
  placeFiles(shape, size)
  sumUp(shape, size)
  return shape
}

function emptyShape(size: ScaleSize): ScaleShape {
  const folders = size.folders + OUTSIDE.folders
  const files = size.files + OUTSIDE.files
  return {
    kinds: new Float64Array(files),
    folderOf: new Int32Array(files),
    sizes: new Float64Array(files),
    parents: new Int32Array(folders).fill(-1),
    fileCounts: new Int32Array(folders),
    treeFiles: new Int32Array(folders),
    treeBytes: new Float64Array(folders),
    treeFolders: new Int32Array(folders),
    treeHeights: new Int32Array(folders),
    heap: Math.floor(size.folders / 3),
  }
}

/** Chooses folder and size of each file, and adds the file to its own folder. */
function placeFiles(shape: ScaleShape, size: ScaleSize): void {
  const random = repeatableRandom(16)
  for (let index = 0; index < shape.folderOf.length; index++) {
    const folder = folderFor(index, size, shape.heap, random)
    // Equal content has one size, and gets one kind of name.
    const isCopy = hasContentBefore(index)
    const kind = isCopy ? (shape.kinds[index - 1] ?? 0) : random()
    const bytes = isCopy ? (shape.sizes[index - 1] ?? 0) : fileSize(kind, random)
    shape.kinds[index] = kind
    shape.sizes[index] = bytes
    shape.folderOf[index] = folder
    add(shape.fileCounts, folder, 1)
    add(shape.treeFiles, folder, 1)
    add(shape.treeBytes, folder, bytes)
  }
}

/** Adds each folder of the tree to its parent, from the leaves up. */
function sumUp(shape: ScaleShape, size: ScaleSize): void {
  for (let index = size.folders - 1; index > 0; index--) {
    const parent = shape.parents[index] ?? 0
    add(shape.treeFiles, parent, shape.treeFiles[index] ?? 0)
    add(shape.treeBytes, parent, shape.treeBytes[index] ?? 0)
    add(shape.treeFolders, parent, (shape.treeFolders[index] ?? 0) + 1)
    const height = (shape.treeHeights[index] ?? 0) + 1
    shape.treeHeights[parent] = Math.max(shape.treeHeights[parent] ?? 0, height)
  }
}

/** The oldest files are outside of the tree: a search after its deletion must not find the remaining ones first. */
function folderFor(index: number, size: ScaleSize, heap: number, random: () => number): number {
  if (index < OUTSIDE.files) return size.folders + (index % OUTSIDE.folders)
  const inTree = index - OUTSIDE.files
  if (inTree % Math.floor(size.files / HEAP) === 0) return heap
  // The ten largest folders hold a tenth of all files together.
  if (size.files >= 100 * LARGEST && inTree % 10 === 1) return 1 + (Math.floor(inTree / 10) % 10)
  return Math.floor(random() * size.folders)
}

/** Whether the file has the content of the one before it, as one in twenty has. */
export function hasContentBefore(index: number): boolean {
  return index % 20 === 19
}

function add(sums: Int32Array | Float64Array, at: number, value: number): void {
  sums[at] = (sums[at] ?? 0) + value
}

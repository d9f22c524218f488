/** The rows of one account with very many files, made the same for every database. */
import { foldName } from '../src/domain/file-name.ts'
import { makeBlobKey, makeFolderIdentifier, makeSlug, makeUuid, type Random } from '../src/domain/random.ts'
import { repeatableRandom } from './content.ts'
import { fileName, fileSize, folderName } from './scale-names.ts'

/** A row by the names of its columns. */
export type Row = Readonly<Record<string, string | number | null>>

export interface ScaleSize {
  /** Files in the big tree, and its folders, the root of the tree included. */
  readonly files: number
  readonly folders: number
}

/** The ids that the account and its tree get. */
export interface Place {
  readonly account: number
  /** The row of the account's top level. */
  readonly top: number
  /** From here on no folder has an id. */
  readonly firstFolder: number
}

export interface ScaleData {
  /** Parents before what is in them. */
  folders(): Iterable<Row>
  blobs(): Iterable<Row>
  /** Oldest first. What the blobs hold must be there. */
  files(): Iterable<Row>
  /** What the account and its top level count. */
  readonly totals: {
    readonly files: number
    readonly bytes: number
    readonly folders: number
    readonly height: number
  }
  /** Known once the rows were made. */
  facts(): ScaleFacts
}

/** What the questions are asked about. */
export interface ScaleFacts {
  /** The root of the big tree. */
  readonly tree: string
  /** Folders of 5 to 20 files. */
  readonly ordinary: readonly string[]
  /** Folders in the tree with files and no folders in them. */
  readonly leaves: readonly Branch[]
  /** The largest folder directly in the tree. */
  readonly branch: Branch
  /** A folder of `HEAP` files. */
  readonly heap: string
  /** Folders of the account that are not in the tree. */
  readonly outside: readonly string[]
  /** Files from everywhere in the tree. */
  readonly files: readonly { readonly id: number; readonly uuid: string; readonly slug: string }[]
  /** The full name of one file in the middle. */
  readonly fullName: string
  /** How many names hold each of the needles. */
  readonly hits: Readonly<Record<string, number>>
}

export interface Branch {
  readonly folder: string
  readonly parent: string
}

/** Beside the tree the account has so many more files, in so many more folders, whatever the size of the tree. */
export const OUTSIDE = { files: 1000, folders: 10 }
/** Files in one folder, whatever the size of the tree. */
export const HEAP = 2500
/** Files in each of the largest folders of a tree that has room for them. */
const LARGEST = 10_000
const LEVELS = 6
const DAY = 24 * 60 * 60 * 1000
const FIVE_YEARS = 5 * 365 * DAY
const SAMPLES = 400

/** Each is in the names of exactly three files: an old one, one of middle age and a new one. */
export const RARE = { word: 'quarzit', three: 'q7z', script: '鯨骨座', two: 'qz', one: '鱗' } as const
/** The oldest files have it in their names, one in twenty of all, and none of the others. */
export const ONLY_OLD = 'telefax'

/** Needles whose hits are counted while the names are made. */
export const NEEDLES: readonly string[] = [
  ...Object.values(RARE),
  ONLY_OLD,
  ...['img_', '.jpg', 'pdf', 'report', 'stadtwerke', 'отчёт', '2022', 'mp4', 'flac', 'backup-', 'xlsx'],
  ...['e', '1', '議', 'jp', 'со', '表和'],
]

/** `now` is the age of the newest file, in milliseconds since the epoch. */
export function scaleData(size: ScaleSize, place: Place, now: number): ScaleData {
  const shape = shapeOf(size)
  const total = shape.folderOf.length
  const bytes = shape.treeBytes[0] ?? 0
  const outsideBytes = sum(shape.treeBytes.subarray(size.folders))
  const hits = new Map(NEEDLES.map((needle) => [needle, 0]))
  const identifiers: string[] = []
  const sampled: { id: number; uuid: string; slug: string }[] = []
  let fullName = ''

  return {
    totals: {
      files: total,
      bytes: bytes + outsideBytes,
      folders: size.folders + OUTSIDE.folders,
      height: (shape.treeHeights[0] ?? 0) + 1,
    },

    *folders() {
      const random = repeatableRandom(11)
      const bytesOf = randomBytes(12)
      for (let index = 0; index < shape.parents.length; index++) {
        const parent = shape.parents[index] ?? -1
        const identifier = makeFolderIdentifier(bytesOf)
        identifiers.push(identifier)
        yield {
          id: place.firstFolder + index,
          identifier,
          account_id: place.account,
          parent_id: parent === -1 ? place.top : place.firstFolder + parent,
          name: folderName(random, index),
          is_public: 1,
          password_hash: null,
          file_count: shape.fileCounts[index] ?? 0,
          tree_files: shape.treeFiles[index] ?? 0,
          tree_bytes: shape.treeBytes[index] ?? 0,
          tree_folders: shape.treeFolders[index] ?? 0,
          tree_height: shape.treeHeights[index] ?? 0,
          created_at: now - FIVE_YEARS,
          deleted_at: null,
          cleared_at: null,
        }
      }
    },

    *blobs() {
      const bytesOf = randomBytes(13)
      for (let index = 0; index < total; index++) {
        if (hasContentBefore(index)) continue
        yield {
          id: index + 1,
          key: makeBlobKey(bytesOf),
          sha256: Buffer.from(bytesOf(32)).toString('hex'),
          crc32: index,
          size: shape.sizes[index] ?? 0,
          refs: index + 1 < total && hasContentBefore(index + 1) ? 2 : 1,
          created_at: ageOf(index, total, now),
        }
      }
    },

    *files() {
      const random = repeatableRandom(14)
      const bytesOf = randomBytes(15)
      const step = Math.max(1, Math.floor(size.files / SAMPLES))
      for (let index = 0; index < total; index++) {
        const created_at = ageOf(index, total, now)
        const given = fileName(shape.kinds[index] ?? 0, random, created_at)
        const name = marked(given.name, index, total)
        const name_folded = foldName(name)
        for (const [needle, count] of hits) if (name_folded.includes(needle)) hits.set(needle, count + 1)
        const file = { id: index + 1, uuid: makeUuid(bytesOf), slug: makeSlug(bytesOf) }
        if (index % step === 0 && index >= OUTSIDE.files) sampled.push(file)
        if (fullName === '' && index > total / 2 && name.startsWith('IMG_')) fullName = name
        yield {
          ...file,
          account_id: place.account,
          folder_id: place.firstFolder + (shape.folderOf[index] ?? 0),
          blob_id: hasContentBefore(index) ? index : index + 1,
          name,
          name_folded,
          size: shape.sizes[index] ?? 0,
          type: given.type,
          created_at,
          last_used_at: now - Math.floor(random() * 10 * DAY),
          views: Math.floor(random() ** 8 * 500),
          downloads: Math.floor(random() ** 8 * 2000),
          removed_at: null,
          removal: null,
        }
      }
    },

    facts() {
      const named = (indexes: readonly number[]) => indexes.map((index) => identifiers[index] ?? '')
      const branch = (index: number) => ({
        folder: identifiers[index] ?? '',
        parent: identifiers[shape.parents[index] ?? 0] ?? '',
      })
      const tree = shape.fileCounts.slice(0, size.folders)
      const all = [...tree.keys()].slice(1)
      const ordinary = all.filter((index) => within(tree[index] ?? 0, 5, 20))
      const leaves = all.filter((index) => shape.treeFolders[index] === 0 && (tree[index] ?? 0) > 0)
      return {
        tree: identifiers[0] ?? '',
        ordinary: named(spread(ordinary)),
        leaves: spread(leaves).map(branch),
        branch: branch(1),
        heap: identifiers[shape.heap] ?? '',
        outside: identifiers.slice(size.folders),
        files: sampled,
        fullName,
        hits: Object.fromEntries(hits),
      }
    },
  }
}

interface Shape {
  /** By file. The kind is what decides about its name and size. */
  readonly kinds: Float64Array
  readonly folderOf: Int32Array
  readonly sizes: Float64Array
  /** By folder; -1 at top level. */
  readonly parents: Int32Array
  readonly fileCounts: Int32Array
  readonly treeFiles: Int32Array
  readonly treeBytes: Float64Array
  readonly treeFolders: Int32Array
  readonly treeHeights: Int32Array
  readonly heap: number
}

/** Which file lies where and how large it is, and with that every sum: made first, because folders are written first. */
function shapeOf(size: ScaleSize): Shape {
  const random = repeatableRandom(16)
  const folders = size.folders + OUTSIDE.folders
  const files = size.files + OUTSIDE.files
  const shape = {
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
  // As deep, whatever the size: so many children each that the last level is reached.
  const children = size.folders ** (1 / LEVELS)
  for (let index = 1; index < size.folders; index++) shape.parents[index] = Math.floor((index - 1) / children)

  for (let index = 0; index < files; index++) {
    const folder = folderFor(index, size, shape.heap, random)
    const before = shape.sizes[index - 1] ?? 0
    // The same content has one size and one kind of name.
    const kind = hasContentBefore(index) ? (shape.kinds[index - 1] ?? 0) : random()
    const bytes = hasContentBefore(index) ? before : fileSize(kind, random)
    shape.kinds[index] = kind
    shape.sizes[index] = bytes
    shape.folderOf[index] = folder
    add(shape.fileCounts, folder, 1)
    add(shape.treeFiles, folder, 1)
    add(shape.treeBytes, folder, bytes)
  }
  for (let index = size.folders - 1; index > 0; index--) {
    const parent = shape.parents[index] ?? 0
    add(shape.treeFiles, parent, shape.treeFiles[index] ?? 0)
    add(shape.treeBytes, parent, shape.treeBytes[index] ?? 0)
    add(shape.treeFolders, parent, (shape.treeFolders[index] ?? 0) + 1)
    const height = (shape.treeHeights[index] ?? 0) + 1
    shape.treeHeights[parent] = Math.max(shape.treeHeights[parent] ?? 0, height)
  }
  return shape
}

/** The oldest files are outside of the tree, so that nothing is found quickly that was left when the tree is deleted. */
function folderFor(index: number, size: ScaleSize, heap: number, random: () => number): number {
  if (index < OUTSIDE.files) return size.folders + (index % OUTSIDE.folders)
  const inTree = index - OUTSIDE.files
  if (inTree % Math.floor(size.files / HEAP) === 0) return heap
  // Ten folders of that many, where they are a tenth of the tree.
  if (size.files >= 100 * LARGEST && inTree % 10 === 1) return 1 + (Math.floor(inTree / 10) % 10)
  return Math.floor(random() * size.folders)
}

/** One file in twenty has the content of the one before it. */
function hasContentBefore(index: number): boolean {
  return index % 20 === 19
}

function ageOf(index: number, total: number, now: number): number {
  return now - Math.floor(((total - index) / total) * FIVE_YEARS)
}

/** The name with the needle that this file is to be found by, if it is one of those. */
function marked(name: string, index: number, total: number): string {
  if (index < total / 20) return `${ONLY_OLD} ${name}`
  const needles = Object.values(RARE)
  for (const share of [0.1, 0.5, 0.9]) {
    const needle = needles[index - Math.floor(total * share)]
    if (needle !== undefined) return `${needle.toUpperCase()} ${name}`
  }
  return name
}

function add(sums: Int32Array | Float64Array, at: number, value: number): void {
  sums[at] = (sums[at] ?? 0) + value
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0)
}

function within(value: number, least: number, most: number): boolean {
  return value >= least && value <= most
}

/** At most `SAMPLES` of them, from everywhere. */
function spread(indexes: readonly number[]): number[] {
  const step = Math.max(1, Math.floor(indexes.length / SAMPLES))
  return indexes.filter((_, at) => at % step === 0)
}

function randomBytes(seed: number): Random {
  const random = repeatableRandom(seed)
  return (length) => {
    const bytes = new Uint8Array(length)
    for (let at = 0; at < length; at++) bytes[at] = random() * 256
    return bytes
  }
}

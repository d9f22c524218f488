/** The rows of one account with very many files, equal for every database. */
import { foldName } from '../../src/domain/folded-name.ts'
import {
  makeBlobKey,
  makeFolderIdentifier,
  makeSlug,
  makeUuid,
  type Random,
} from '../../src/domain/random.ts'
import { sortKey, sortKeyOfFolded } from '../../src/domain/sort-key.ts'
import { repeatableRandom } from '../content.ts'
import { folderName, scaleFileName } from './scale-names.ts'
import { marked, NeedleCounts } from './scale-needles.ts'
import { hasContentBefore, OUTSIDE, type ScaleShape, type ScaleSize, shapeOf } from './scale-shape.ts'

/** A row by column names. */
export type Row = Readonly<Record<string, string | number | null>>

/** Ids of the account and its tree. */
export interface ScalePlace {
  readonly account: number
  /** Id of the account's root folder. */
  readonly top: number
  /** The first free folder id. */
  readonly firstFolder: number
}

export interface ScaleData {
  /** Parents before their children. */
  folders(): Iterable<Row>
  blobs(): Iterable<Row>
  /** The oldest first. The rows of the blobs must be written before. */
  files(): Iterable<Row>
  /** The totals of the account and of its top level. */
  readonly totals: {
    readonly files: number
    readonly bytes: number
    readonly folders: number
    readonly height: number
  }
  /** To be called after all rows were made. */
  facts(): ScaleFacts
}

/** What the queries of the benchmark ask for. */
export interface ScaleFacts {
  /** Root of the big tree. */
  readonly tree: string
  /** Folders with 5 to 20 files. */
  readonly ordinary: readonly string[]
  /** Folders of the tree with files and no subfolders. */
  readonly leaves: readonly Branch[]
  /** The largest folder directly in the tree. */
  readonly branch: Branch
  /** A folder of `HEAP` files. */
  readonly heap: string
  /** Folders of the account outside of the tree. */
  readonly outside: readonly string[]
  /** Files from the whole tree. */
  readonly files: readonly { readonly id: number; readonly uuid: string; readonly slug: string }[]
  /** Full name of a file in the middle. */
  readonly fullName: string
  /** How many names hold each of `NEEDLES`. */
  readonly hits: Readonly<Record<string, number>>
}

export interface Branch {
  readonly folder: string
  readonly parent: string
}

const DAY = 24 * 60 * 60 * 1000
const FIVE_YEARS = 5 * 365 * DAY
const SAMPLES = 400

/** `now`: the creation time of the newest file, in milliseconds since the epoch. */
export function scaleData(size: ScaleSize, place: ScalePlace, now: number): ScaleData {
  return new AccountRows(size, place, now)
}

class AccountRows implements ScaleData {
  readonly #size: ScaleSize
  readonly #place: ScalePlace
  readonly #now: number
  readonly #shape: ScaleShape
  readonly #hits = new NeedleCounts()
  readonly #identifiers: string[] = []
  readonly #sampled: { id: number; uuid: string; slug: string }[] = []
  #fullName = ''

  constructor(size: ScaleSize, place: ScalePlace, now: number) {
    this.#size = size
    this.#place = place
    this.#now = now
    this.#shape = shapeOf(size)
  }

  get totals() {
    const { folderOf, treeBytes, treeHeights } = this.#shape
    return {
      files: folderOf.length,
      bytes: (treeBytes[0] ?? 0) + sum(treeBytes.subarray(this.#size.folders)),
      folders: this.#size.folders + OUTSIDE.folders,
      height: (treeHeights[0] ?? 0) + 1,
    }
  }

  *folders(): Iterable<Row> {
    const random = repeatableRandom(11)
    const bytesOf = randomBytes(12)
    for (let index = 0; index < this.#shape.parents.length; index++) {
      const identifier = makeFolderIdentifier(bytesOf)
      this.#identifiers.push(identifier)
      yield this.#folder(index, identifier, folderName(random, index))
    }
  }

  #folder(index: number, identifier: string, name: string): Row {
    const { account, top, firstFolder } = this.#place
    const shape = this.#shape
    const parent = shape.parents[index] ?? -1
    return {
      id: firstFolder + index,
      identifier,
      account_id: account,
      parent_id: parent === -1 ? top : firstFolder + parent,
      name,
      name_sort: sortKey(name),
      is_public: 1,
      password_hash: null,
      file_count: shape.fileCounts[index] ?? 0,
      tree_files: shape.treeFiles[index] ?? 0,
      tree_bytes: shape.treeBytes[index] ?? 0,
      tree_folders: shape.treeFolders[index] ?? 0,
      tree_height: shape.treeHeights[index] ?? 0,
      created_at: this.#now - FIVE_YEARS,
      deleted_at: null,
      cleared_at: null,
    }
  }

  *blobs(): Iterable<Row> {
    const total = this.#shape.folderOf.length
    const bytesOf = randomBytes(13)
    for (let index = 0; index < total; index++) {
      if (hasContentBefore(index)) continue
      yield {
        id: index + 1,
        key: makeBlobKey(bytesOf),
        sha256: Buffer.from(bytesOf(32)).toString('hex'),
        crc32: index,
        size: this.#shape.sizes[index] ?? 0,
        refs: index + 1 < total && hasContentBefore(index + 1) ? 2 : 1,
        created_at: this.#createdAt(index),
      }
    }
  }

  *files(): Iterable<Row> {
    const total = this.#shape.folderOf.length
    const random = repeatableRandom(14)
    const bytesOf = randomBytes(15)
    const step = Math.max(1, Math.floor(this.#size.files / SAMPLES))
    for (let index = 0; index < total; index++) {
      const created_at = this.#createdAt(index)
      const { name: plain, type } = scaleFileName(this.#shape.kinds[index] ?? 0, random, created_at)
      const name = marked(plain, index, total)
      const name_folded = foldName(name)
      this.#hits.count(name_folded)
      const file = { id: index + 1, uuid: makeUuid(bytesOf), slug: makeSlug(bytesOf) }
      if (index % step === 0 && index >= OUTSIDE.files) this.#sampled.push(file)
      if (this.#fullName === '' && index > total / 2 && name.startsWith('IMG_')) this.#fullName = name
      yield {
        ...file,
        account_id: this.#place.account,
        folder_id: this.#place.firstFolder + (this.#shape.folderOf[index] ?? 0),
        blob_id: hasContentBefore(index) ? index : index + 1,
        name,
        name_folded,
        name_sort: sortKeyOfFolded(name_folded),
        size: this.#shape.sizes[index] ?? 0,
        type,
        created_at,
        last_used_at: this.#now - Math.floor(random() * 10 * DAY),
        views: Math.floor(random() ** 8 * 500),
        downloads: Math.floor(random() ** 8 * 2000),
        removed_at: null,
        removal: null,
      }
    }
  }

  facts(): ScaleFacts {
    const { fileCounts, treeFolders, heap } = this.#shape
    const tree = fileCounts.slice(0, this.#size.folders)
    const all = [...tree.keys()].slice(1)
    const ordinary = all.filter((index) => within(tree[index] ?? 0, 5, 20))
    const leaves = all.filter((index) => treeFolders[index] === 0 && (tree[index] ?? 0) > 0)
    return {
      tree: this.#identifier(0),
      ordinary: spread(ordinary).map((index) => this.#identifier(index)),
      leaves: spread(leaves).map((index) => this.#branch(index)),
      branch: this.#branch(1),
      heap: this.#identifier(heap),
      outside: this.#identifiers.slice(this.#size.folders),
      files: this.#sampled,
      fullName: this.#fullName,
      hits: this.#hits.all(),
    }
  }

  #identifier(folder: number): string {
    return this.#identifiers[folder] ?? ''
  }

  #branch(folder: number): Branch {
    return {
      folder: this.#identifier(folder),
      parent: this.#identifier(this.#shape.parents[folder] ?? 0),
    }
  }

  /** Files are numbered by age, the oldest first, over five years. */
  #createdAt(index: number): number {
    const total = this.#shape.folderOf.length
    return this.#now - Math.floor(((total - index) / total) * FIVE_YEARS)
  }
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0)
}

function within(value: number, least: number, most: number): boolean {
  return value >= least && value <= most
}

/** About `SAMPLES` of the indexes, evenly spread. */
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

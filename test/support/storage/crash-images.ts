/**
 * The states in which a power cut could leave a recorded folder. The disk is the weakest that POSIX allows: whatever was
 * not synced before the cut is kept or lost by itself and in any order, a name without its folder's sync included. A write
 * that was not synced may be torn, or leave zeros of its length. A rename is one change, as in every journal, and holds
 * once the folder it leads into was synced.
 *
 * Bound: of up to `subsets` changes that were not synced, every subset; of more, none, all, each that came first, each by
 * itself kept and each by itself lost.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Chance } from '../chance.ts'
import { type DiskOperation, durableFrom, type Recording } from './disk-operations.ts'

export interface CrashImage {
  /** Moment of the power cut: a line of the record. */
  readonly at: number
  /** By place in `Recording.operations`: how much is kept of each. */
  readonly kept: readonly Kept[]
}

/** A number of a write: only its first bytes are kept. */
type Kept = 'all' | 'nothing' | 'zeros' | number

interface Bounds {
  readonly subsets: number
  /** States of one kind that are kept, chosen by `chance`. */
  readonly each: number
  readonly chance: Chance
  /** Number of acknowledgements before the moment. */
  readonly acknowledged: (at: number) => number
}

/**
 * The images, one kind after another. Images of a kind differ only in what SQLite ignores: frames of its log behind the last
 * commit before the first frame that is lost. Of each kind those are kept that come after the most acknowledgements.
 */
export function crashImages(recording: Recording, bounds: Bounds): CrashImage[][] {
  const log = logOf(recording)
  const { operations, syncs } = recording
  const durable = operations.map((operation) => durableFrom(operation, syncs))
  const kinds = new Map<string, { acknowledged: number; seen: number; readonly images: CrashImage[] }>()
  for (const at of momentsOf(recording)) {
    const acknowledged = bounds.acknowledged(at)
    for (const kept of keptAt(operations, durable, at, bounds.subsets)) {
      const name = kindOf(log, kept)
      const kind = kinds.get(name) ?? { acknowledged: -1, seen: 0, images: [] }
      kinds.set(name, kind)
      if (acknowledged > kind.acknowledged) Object.assign(kind, { acknowledged, seen: 0, images: [] })
      kind.seen += 1
      const place =
        kind.images.length < bounds.each ? kind.images.length : bounds.chance.whole(0, kind.seen - 1)
      if (place < bounds.each) kind.images[place] = { at, kept }
    }
  }
  return [...kinds.values()].map(({ images }) => images)
}

/** After each beginning of an operation or an answer, and after each sync. */
function momentsOf({ operations, syncs, sent }: Recording): number[] {
  const lines = [...operations.map(({ begun }) => begun), ...sent.map(({ begun }) => begun)]
  return [...new Set([...lines, ...syncs.map(({ ended }) => ended)])]
    .sort((a, b) => a - b)
    .map((line) => line + 0.5)
}

function* keptAt(
  operations: readonly DiskOperation[],
  durable: readonly number[],
  at: number,
  subsets: number,
): Generator<Kept[]> {
  const issued = operations.filter(({ begun }) => begun < at)
  const open = issued.flatMap((_, place) => ((durable[place] ?? 0) < at ? [] : [place]))
  const keeping = (isKept: (place: number) => Kept): Kept[] => {
    const kept = new Array<Kept>(issued.length).fill('all')
    for (const place of open) kept[place] = isKept(place)
    return kept
  }
  const all = (isKept: boolean): Kept => (isKept ? 'all' : 'nothing')
  if (open.length <= subsets) {
    for (let set = 0; set < 2 ** open.length; set++) {
      yield keeping((place) => all((set & (2 ** open.indexOf(place))) !== 0))
    }
  } else {
    yield keeping(() => 'all')
    for (const one of open) {
      yield keeping((place) => all(place < one))
      yield keeping((place) => all(place === one))
      yield keeping((place) => all(place !== one))
    }
  }
  for (const one of open) {
    for (const torn of tearsOf(issued[one])) {
      yield keeping((place) => (place === one ? torn : all(place < one)))
      yield keeping((place) => (place === one ? torn : 'all'))
    }
  }
}

const SECTOR = 512
const PAGE = 4096

/** A cut at the first and the last boundary of a sector and of a page, and zeros. */
function tearsOf(operation: DiskOperation | undefined): Kept[] {
  if (operation?.kind !== 'write') return []
  const { position, bytes } = operation
  const cuts = [SECTOR, PAGE].flatMap((unit) => {
    const first = unit - (position % unit)
    const last = bytes.length - ((position + bytes.length) % unit)
    return [first, last].filter((length) => length > 0 && length < bytes.length)
  })
  return [...new Set(cuts), 'zeros']
}

/** Places of the operations on SQLite's log, in which each frame is a write of its head and one of its page. */
interface Log {
  readonly places: readonly number[]
  /** Those that end a transaction. */
  readonly commits: ReadonlySet<number>
  /** From this place on the log is emptied. */
  readonly isWhole: number
  /** Places of writes to the database, which come when the log is about to be emptied. */
  readonly pages: ReadonlySet<number>
  /** Places of everything else, these included. */
  readonly others: readonly number[]
}

const DATABASE = 'holdfast.sqlite'
const LOG = `${DATABASE}-wal`
const LOG_HEAD = 32
/** Where the head of the log has the size of its pages. */
const PAGE_SIZE_AT = 8
const FRAME_HEAD = 24

function logOf({ operations, files }: Recording): Log {
  const made = operations.flatMap((each) => (each.kind === 'name' && each.path === LOG ? [each.file] : []))
  const isOf = (file: number | undefined) => (place: number) => {
    const operation = operations[place]
    return operation !== undefined && operation.kind !== 'name' && operation.file === file
  }
  const [log] = made.filter((file) => typeof file === 'number')
  const all = operations.map((_, place) => place)
  const places = all.filter(isOf(log))
  const commits = new Set<number>()
  let page = 0
  let end = 0
  for (const [number, place] of places.entries()) {
    const operation = operations[place]
    if (operation?.kind !== 'write') continue
    const { position, bytes } = operation
    if (position !== end) throw new Error(`the log of the database was written at ${position}, not at ${end}`)
    end += bytes.length
    const said = new DataView(bytes.buffer, bytes.byteOffset)
    if (position === 0) page = said.getUint32(PAGE_SIZE_AT)
    const isHead = (position - LOG_HEAD) % (FRAME_HEAD + page) === 0 && bytes.length === FRAME_HEAD
    const ofPage = places[number + 1]
    if (isHead && ofPage !== undefined && said.getUint32(4) !== 0) commits.add(ofPage)
  }
  const isLog = isOf(log)
  return {
    places,
    commits,
    isWhole: places.find((place) => operations[place]?.kind === 'resize') ?? Number.POSITIVE_INFINITY,
    pages: new Set(all.filter(isOf(files.get(DATABASE)))),
    others: all.filter((place) => !isLog(place)),
  }
}

/** What SQLite ignores is left out: its log behind that commit, and pages of the file that a whole log has too. */
function kindOf({ places, commits, others, pages, isWhole }: Log, kept: readonly Kept[]): string {
  let last = 0
  let isRemoved = false
  for (const place of places) {
    if (kept[place] !== 'all') break
    if (commits.has(place)) last = place
    if (place >= isWhole) isRemoved = true
  }
  const inLog = last > 0 && !isRemoved
  let name = `${last} ${isRemoved}`
  for (const place of others) {
    const how = kept[place] ?? 'nothing'
    if (how !== 'nothing' && !(inLog && pages.has(place)))
      name += how === 'all' ? ` ${place}` : ` ${place}:${how}`
  }
  return name
}

/** Makes the folder, which is empty, what the image says. */
export function buildImage(
  folder: string,
  { before, files, operations }: Recording,
  { kept }: CrashImage,
): void {
  const names = new Map<string, number | 'folder'>()
  const contents = new Map<number, Content>()
  const contentOf = (file: number) => {
    const content = contents.get(file) ?? new Content()
    contents.set(file, content)
    return content
  }
  for (const [path, content] of before) {
    const file = files.get(path)
    names.set(path, file ?? 'folder')
    if (file !== undefined && content !== null) contentOf(file).write(0, content)
  }
  kept.forEach((how, place) => {
    const operation = operations[place]
    if (operation === undefined || how === 'nothing') return
    if (operation.kind === 'name') {
      if (operation.former !== null) names.delete(operation.former)
      if (operation.file === null) names.delete(operation.path)
      else names.set(operation.path, operation.file)
      return
    }
    const content = contentOf(operation.file)
    if (operation.kind === 'resize') content.resize(operation.size)
    else content.write(operation.position, partOf(operation.bytes, how))
  })
  for (const [path, file] of [...names].sort(([one], [other]) => (one < other ? -1 : 1))) {
    // A name in a folder that is lost is lost with it.
    if (dirname(path) !== '.' && names.get(dirname(path)) !== 'folder') continue
    if (file === 'folder') mkdirSync(join(folder, path), { recursive: true })
    else writeFileSync(join(folder, path), contentOf(file).bytes)
  }
}

function partOf(bytes: Uint8Array<ArrayBuffer>, how: Kept): Uint8Array<ArrayBuffer> {
  if (how === 'zeros') return new Uint8Array(bytes.length)
  return typeof how === 'number' ? bytes.subarray(0, how) : bytes
}

/** Grows in place: the log of the database is written in a thousand pieces. */
class Content {
  #room = new Uint8Array(64 * 1024)
  #size = 0

  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#room.subarray(0, this.#size)
  }

  write(position: number, bytes: Uint8Array<ArrayBuffer>): void {
    const end = position + bytes.length
    if (end > this.#size) this.resize(end)
    this.#room.set(bytes, position)
  }

  resize(size: number): void {
    if (size > this.#room.length) {
      const room = new Uint8Array(2 * size)
      room.set(this.bytes)
      this.#room = room
    }
    // What is cut off comes back as zeros.
    if (size < this.#size) this.#room.fill(0, size, this.#size)
    this.#size = size
  }
}

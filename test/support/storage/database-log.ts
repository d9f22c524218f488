/**
 * SQLite's log in a recording. Each frame has a checksum over all frames before it, so a reader stops at the first one
 * that is not whole: of all that was not synced, a power cut leaves it the first commits or none. `logLosses` has the
 * states that show whether that is so.
 */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { type DiskOperation, durableFrom, type Recording } from './disk-operations.ts'
import { buildImage, type Kept, tearsOf } from './image-building.ts'

const DATABASE = 'holdfast.sqlite'
export const LOG = `${DATABASE}-wal`
const LOG_HEAD = 32
/** Where the head of the log has the size of its pages. */
const PAGE_SIZE_AT = 8
const FRAME_HEAD = 24

/** Places in `Recording.operations`. */
export interface DatabaseLog {
  /** Writes to the log: each frame is one of its head and one of its page. */
  readonly places: readonly number[]
  /** Those that end a transaction. */
  readonly commits: readonly number[]
  /** Changes of the database itself, which come when its log is about to be removed. */
  readonly pages: readonly number[]
  /** Everything else. */
  readonly others: readonly number[]
}

export function logOf({ operations, files }: Recording): DatabaseLog {
  const made = operations.flatMap((each) => (each.kind === 'name' && each.path === LOG ? [each.file] : []))
  const isOf = (file: number | undefined) => (place: number) => {
    const operation = operations[place]
    return operation !== undefined && operation.kind !== 'name' && operation.file === file
  }
  const isLog = isOf(made.find((file) => typeof file === 'number'))
  const isPage = isOf(files.get(DATABASE))
  const all = operations.map((_, place) => place)
  const places = all.filter(isLog)
  return {
    places,
    commits: commitsOf(operations, places),
    pages: all.filter(isPage),
    others: all.filter((place) => !isLog(place) && !isPage(place)),
  }
}

function commitsOf(operations: readonly DiskOperation[], places: readonly number[]): number[] {
  const commits: number[] = []
  let page = 0
  let end = 0
  for (const [number, place] of places.entries()) {
    const operation = operations[place]
    if (operation?.kind !== 'write') throw new Error('the log of the database was cut while it was recorded')
    const { position, bytes } = operation
    if (position !== end) throw new Error(`the log of the database was written at ${position}, not at ${end}`)
    end += bytes.length
    const said = new DataView(bytes.buffer, bytes.byteOffset)
    if (position === 0) page = said.getUint32(PAGE_SIZE_AT)
    const isHead = (position - LOG_HEAD) % (FRAME_HEAD + page) === 0 && bytes.length === FRAME_HEAD
    const ofPage = places[number + 1]
    if (isHead && ofPage !== undefined && said.getUint32(4) !== 0) commits.push(ofPage)
  }
  return commits
}

/** Before the first commit. */
export const NO_COMMIT = -1

/** The last of the commits before that place of a write to the log. */
export const commitBefore = (log: DatabaseLog, place: number) =>
  log.commits.findLast((commit) => commit < place) ?? NO_COMMIT

/** A state of database and log in which SQLite must find what it finds after that commit. */
export interface LogLoss {
  readonly kept: readonly Kept[]
  readonly commit: number
}

/**
 * Each write to the log in turn is the first that is not whole, lost or torn in each way, with all behind it or nothing.
 * And the pages that are copied into the database before the log is removed: the first ones, each alone kept, lost or torn.
 */
export function logLosses({ operations, syncs }: Recording, log: DatabaseLog): LogLoss[] {
  /** What was issued before that change was durable. */
  const issuedWith = (place: number) => {
    const durable = operations[place] === undefined ? 0 : durableFrom(operations[place], syncs)
    return operations.filter(({ begun }) => begun < durable).length
  }
  const keeping = (issued: number, places: readonly number[], how: (place: number) => Kept) => {
    const isAmong = new Set(places)
    return Array.from({ length: issued }, (_, place) => (isAmong.has(place) ? how(place) : 'all'))
  }
  const losses: LogLoss[] = []
  for (const place of log.places) {
    const [issued, commit] = [issuedWith(place), commitBefore(log, place)]
    for (const how of waysToLose(operations[place])) {
      for (const behind of ['all', 'nothing'] as const) {
        const kept = (at: number): Kept => (at === place ? how : at < place ? 'all' : behind)
        losses.push({ kept: keeping(issued, log.places, kept), commit })
      }
    }
  }
  const [issued, commit] = [issuedWith(log.pages.at(-1) ?? 0), log.commits.at(-1) ?? NO_COMMIT]
  const copying = (how: (place: number) => Kept) =>
    losses.push({ kept: keeping(issued, log.pages, how), commit })
  for (const page of log.pages) {
    copying((place) => (place < page ? 'all' : 'nothing'))
    copying((place) => (place === page ? 'all' : 'nothing'))
    for (const how of waysToLose(operations[page])) {
      copying((place) => (place === page ? how : 'all'))
      copying((place) => (place === page ? how : place < page ? 'all' : 'nothing'))
    }
  }
  return losses
}

/** Without what leaves the same bytes as a whole write. */
function waysToLose(operation: DiskOperation | undefined): Kept[] {
  const tears = tearsOf(operation).filter((how) => {
    if (operation?.kind !== 'write') return false
    return operation.bytes.subarray(typeof how === 'number' ? how : 0).some((byte) => byte !== 0)
  })
  return ['nothing', ...tears]
}

/** Hash of everything that SQLite finds after such a loss, in an empty folder. */
export function contentAfter(folder: string, recording: Recording, kept: readonly Kept[]): string {
  buildImage(folder, recording, kept, [DATABASE, LOG])
  using database = new Database(join(folder, DATABASE))
  database.run('pragma synchronous = off')
  return new Bun.CryptoHasher('sha256').update(database.serialize()).digest('hex')
}

/** What SQLite has to find: all up to that commit, and nothing behind it. */
export function keptUpTo(log: DatabaseLog, commit: number): Kept[] {
  const isLog = new Set(log.places)
  const last = log.commits.at(-1) ?? 0
  return Array.from({ length: last + 1 }, (_, place) =>
    isLog.has(place) && place > commit ? 'nothing' : 'all',
  )
}

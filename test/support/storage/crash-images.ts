/**
 * The states in which a power cut could leave a recorded folder. The disk is the weakest that POSIX allows: whatever was
 * not synced before the cut is kept or lost by itself and in any order, a name without its folder's sync included. A write
 * that was not synced may be torn, or leave zeros of its length. A rename is one change, as in every journal, and holds
 * once the folder it leads into was synced.
 *
 * All of them at every moment, with one torn write at most, and each once: states are the same when they have the same
 * files with the same content. Of SQLite's log that is the last commit before the first frame that is lost; see
 * `database-log.ts`.
 */
import { dirname } from 'node:path'
import { commitBefore, type DatabaseLog, LOG, logOf } from './database-log.ts'
import { type DiskOperation, durableFrom, type FileNumber, type Recording } from './disk-operations.ts'
import { type Kept, tearsOf } from './image-building.ts'

export interface CrashImage {
  /** Moment of the power cut: a line of the record. Of several that leave this state, that after the most acknowledgements. */
  readonly at: number
  /** By place in `Recording.operations`. */
  readonly kept: readonly Kept[]
}

/** Changes outside of the database that are not synced at a moment and make a difference. Far fewer are in what was recorded. */
const MOST_OPEN = 12

/** One way in which the changes outside of the database are kept and lost. */
interface FileLoss {
  /** Equal for equal files. */
  readonly name: string
  readonly hasLog: boolean
  readonly kept: ReadonlyMap<number, Kept>
}

/** `acknowledged`: number of acknowledgements before the moment. */
export function crashImages(recording: Recording, acknowledged: (at: number) => number): CrashImage[] {
  const { operations, syncs } = recording
  const log = logOf(recording)
  const durable = operations.map((operation) => durableFrom(operation, syncs))
  const lossesOf = fileLosses(recording)
  const images = new Map<string, { readonly acknowledged: number; readonly at: number; kept(): Kept[] }>()
  for (const at of momentsOf(recording)) {
    const issued = operations.findLastIndex(({ begun }) => begun < at) + 1
    const isOpen = (place: number) => !((durable[place] ?? 0) < at)
    const among = (places: readonly number[]) => places.filter((place) => place < issued)
    const others = among(log.others)
    const losses = lossesOf(others, others.filter(isOpen))
    const own = { acknowledged: acknowledged(at), at }
    for (const commit of commitsAt(log, issued, isOpen)) {
      for (const { name, hasLog, kept } of losses) {
        if (!hasLog && among(log.pages).some(isOpen))
          throw new Error('a log was removed before it was copied')
        const state = `${hasLog ? commit : 'no log'} ${name}`
        if ((images.get(state)?.acknowledged ?? -1) >= own.acknowledged) continue
        const all = () => keptOf({ log, issued, isOpen, commit, kept })
        images.set(state, { ...own, kept: all })
      }
    }
  }
  return [...images.values()].map(({ at, kept }) => ({ at, kept: kept() }))
}

/** After each beginning of an operation or an answer, and after each sync. */
function momentsOf({ operations, syncs, sent }: Recording): number[] {
  const lines = [...operations.map(({ begun }) => begun), ...sent.map(({ begun }) => begun)]
  return [...new Set([...lines, ...syncs.map(({ ended }) => ended)])]
    .sort((a, b) => a - b)
    .map((line) => line + 0.5)
}

/** Those that can be the last whole one: that which is durable, and all that came after it. */
function commitsAt(log: DatabaseLog, issued: number, isOpen: (place: number) => boolean): number[] {
  const firstOpen = log.places.find((place) => place < issued && isOpen(place)) ?? issued
  const durable = commitBefore(log, firstOpen)
  return [durable, ...log.commits.filter((commit) => commit > durable && commit < issued)]
}

/** The first write to the log that may be lost is, and what is behind it is not; every other page of the database is. */
function keptOf(image: {
  readonly log: DatabaseLog
  readonly issued: number
  readonly isOpen: (place: number) => boolean
  readonly commit: number
  readonly kept: ReadonlyMap<number, Kept>
}): Kept[] {
  const { log, issued, isOpen, commit, kept } = image
  const lost = log.places.find((place) => place > commit && place < issued && isOpen(place))
  const pages = log.pages.filter((place) => place < issued && isOpen(place) && place % 2 === 0)
  const all = new Array<Kept>(issued).fill('all')
  for (const place of [lost, ...pages]) if (place !== undefined) all[place] = 'nothing'
  for (const [place, how] of kept) all[place] = how
  return all
}

/** Makes the losses of open changes, among those that were issued. Most moments have those of the moment before. */
function fileLosses(recording: Recording) {
  const known = new Map<string, readonly FileLoss[]>()
  return (issued: readonly number[], open: readonly number[]): readonly FileLoss[] => {
    const which = `${issued.length} ${open.join(' ')}`
    const losses = known.get(which) ?? lossesAmong(recording, issued, open)
    known.set(which, losses)
    return losses
  }
}

function lossesAmong(recording: Recording, issued: readonly number[], open: readonly number[]): FileLoss[] {
  const { operations } = recording
  const isOpen = new Set(open)
  const makesDifference = open.filter((place) => !isUndone(operations, place, issued, isOpen))
  if (makesDifference.length > MOST_OPEN) {
    const what = makesDifference
      .map((place) => operations[place])
      .map((each) => each?.kind === 'name' && each.path)
    throw new Error(`too many changes are not synced to try every loss: ${what.join(', ')}`)
  }
  const torn = makesDifference.flatMap((place) => tearsOf(operations[place]).map((how) => ({ place, how })))
  const losses = new Map<string, FileLoss>()
  for (const tear of [null, ...torn]) {
    const free = makesDifference.filter((place) => place !== tear?.place)
    for (let set = 0; set < 2 ** free.length; set++) {
      const isKept = (number: number) => (set & (2 ** number)) !== 0
      const kept = new Map(
        free.map((place, number): [number, Kept] => [place, isKept(number) ? 'all' : 'nothing']),
      )
      if (tear !== null) kept.set(tear.place, tear.how)
      const files = filesAfter(recording, issued, kept)
      losses.set(files.name, { ...files, kept })
    }
  }
  return [...losses.values()]
}

/** A new name that is durably gone again makes no difference: that of a temporary file, once it was renamed. */
function isUndone(
  operations: readonly DiskOperation[],
  place: number,
  issued: readonly number[],
  isOpen: ReadonlySet<number>,
): boolean {
  const made = operations[place]
  if (made?.kind !== 'name' || made.former !== null) return false
  return issued.some((later) => {
    const operation = operations[later]
    if (later <= place || isOpen.has(later) || operation?.kind !== 'name') return false
    return operation.former === made.path || operation.path === made.path
  })
}

function filesAfter(
  { before, files, operations }: Recording,
  issued: readonly number[],
  kept: ReadonlyMap<number, Kept>,
): { name: string; hasLog: boolean } {
  /** Names that have changed; null for those that are gone. */
  const names = new Map<string, FileNumber | 'folder' | null>()
  const contents = new Map<FileNumber, string>()
  for (const place of issued) {
    const [operation, how] = [operations[place], kept.get(place) ?? 'all']
    if (operation === undefined || how === 'nothing') continue
    if (operation.kind === 'name') {
      if (operation.former !== null) names.set(operation.former, null)
      names.set(operation.path, operation.file)
    } else contents.set(operation.file, `${contents.get(operation.file) ?? ''} ${place}:${how}`)
  }
  const isThere = (path: string) => {
    const folder = dirname(path)
    return folder === '.' || (names.has(folder) ? names.get(folder) === 'folder' : before.has(folder))
  }
  const changed = [...names].filter(([path, file]) => (file === null ? before.has(path) : isThere(path)))
  const written = [...files].flatMap(([path, file]) => (names.has(path) ? [] : (contents.get(file) ?? [])))
  const described = changed.map(([path, file]) => {
    const content = typeof file === 'number' ? (contents.get(file) ?? '') : ''
    return `${path}=${file}${content}`
  })
  const log = names.get(LOG) ?? null
  return { name: [...described.sort(), ...written].join('\n'), hasLog: log !== null }
}

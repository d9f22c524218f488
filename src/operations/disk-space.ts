import type { Core } from '../core/core.ts'
import { SECOND } from '../domain/clock.ts'
import { formatSize } from '../domain/sizes.ts'
import type { Log } from '../log.ts'
import type { Reserve } from '../storage.ts'

export interface DiskSpace {
  /** Free bytes on the disk that uploads need; null when that is on another machine. */
  readonly free: number | null
  readonly floor: number
  readonly takesUploads: boolean
  /** False earlier than `takesUploads`: the remaining space is left to accounts. */
  readonly takesGuests: boolean
}

/** First reservation of an upload in bytes; with less than that above the floor hardly any upload fits. */
const STEP = 8 * 1024 * 1024
/** Multiple of the floor. */
const GUEST_FLOORS = 2
/** The end of a shortage is logged at this multiple of its threshold. */
const HYSTERESIS = 1.05

const FRESH_FOR = SECOND

interface Line {
  readonly floors: number
  readonly begins: string
  readonly ends: string
}

const ALL: Line = {
  floors: 1,
  begins: 'the disk is full: uploads are refused until more than HOLDFAST_MIN_FREE_SPACE is free',
  ends: 'the disk has room again: uploads are taken',
}
const GUESTS: Line = {
  floors: GUEST_FLOORS,
  begins: "the disk is getting full: guests' uploads are refused below twice HOLDFAST_MIN_FREE_SPACE",
  ends: "the disk has room for guests' uploads again",
}
const RESERVE: Line = {
  floors: 0,
  begins:
    'almost nothing of the disk is left, and what was kept back for deletes is given up: delete files or make space now, because on a disk without any nothing can be deleted',
  ends: 'the disk has room again: some is kept back for deletes',
}

export function createDiskWatch({
  blobSpace,
  databaseSpace,
  floor,
  guests,
  reserve,
  clock,
  log,
}: Pick<Core, 'clock' | 'log'> & {
  /** Free bytes; null for another machine's disk. */
  readonly blobSpace: () => Promise<number | null>
  readonly databaseSpace: () => Promise<number | null>
  readonly floor: number
  readonly guests: boolean
  /** Null where a delete needs no disk space. */
  readonly reserve: Reserve | null
}) {
  const isTold = new Map<Line, boolean>()
  let last: { readonly at: number; readonly space: Promise<DiskSpace> } | null = null

  async function measure(): Promise<DiskSpace> {
    const ofBlobs = await blobSpace()
    const free = ofBlobs ?? (await databaseSpace())
    const isBelow = (limit: number) => free !== null && free < limit + STEP
    return {
      free,
      floor,
      takesUploads: floor === 0 || !isBelow(floor),
      // Where blobs are on another machine, guests need as little of this disk as accounts.
      takesGuests: guests && (floor === 0 || !isBelow(ofBlobs === null ? floor : GUEST_FLOORS * floor)),
    }
  }

  /** Measures at most once a second. */
  function look(): Promise<DiskSpace> {
    const now = clock.monotonic()
    if (last === null || now - last.at >= FRESH_FOR) last = { at: now, space: measure() }
    return last.space
  }

  function tell(line: Line, isRefused: boolean, { free }: DiskSpace): void {
    const wasRefused = isTold.get(line) === true
    if (isRefused === wasRefused) return
    if (!isRefused && free !== null && free < floor * line.floors * HYSTERESIS) return
    isTold.set(line, isRefused)
    const fields = { free: formatSize(free ?? 0), floor: formatSize(floor) }
    if (isRefused) log.warn(fields, line.begins)
    else log.info(fields, line.ends)
  }

  return {
    look,

    /** Logs begin and end of a shortage; tends the reserve. Call every few seconds. */
    async watch(): Promise<void> {
      const space = await look()
      tell(ALL, !space.takesUploads, space)
      if (guests) tell(GUESTS, !space.takesGuests, space)
      if (reserve !== null) tell(RESERVE, !(await reserve.tend()), space)
    },
  }
}

export function warnOfFloor(log: Log, floor: number, disk: number): void {
  if (floor === 0) return
  const fields = { floor: formatSize(floor), disk: formatSize(disk) }
  if (floor + STEP > disk) {
    log.warn(
      fields,
      'HOLDFAST_MIN_FREE_SPACE is more than the disk under HOLDFAST_DATA_DIR has: no upload can be taken; set it lower',
    )
  } else if (GUEST_FLOORS * floor + STEP > disk) {
    log.warn(
      fields,
      "twice HOLDFAST_MIN_FREE_SPACE is more than the disk under HOLDFAST_DATA_DIR has: no guest's upload can be taken; set it lower",
    )
  }
}

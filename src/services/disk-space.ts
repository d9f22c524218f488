import { type Clock, SECOND } from '../domain/clock.ts'
import { formatSize } from '../domain/sizes.ts'
import type { Log } from '../log.ts'

/** Whether the disk has room for uploads now. */
export interface DiskSpace {
  /** Bytes left on the disk that uploads need; null where that is another machine's. */
  readonly free: number | null
  readonly floor: number
  readonly takesUploads: boolean
  /** Guests' uploads stop earlier, so that the last room is left to accounts. */
  readonly takesGuests: boolean
}

export interface DiskWatch {
  /** Measured once a second at most. */
  look(): Promise<DiskSpace>
  /** Says in the log when uploads stop for want of room, and when they go on. To be called every few seconds. */
  watch(): Promise<void>
}

/** An upload begins with a step of so many bytes; where less is left above the floor, hardly any fits. */
const STEP = 8 * 1024 * 1024
/** How many times the floor guests leave free. */
const GUEST_FLOORS = 2
/** Room has to be for this much more before it is told that there is some again, or lines would come all the time. */
const CLEARLY = 1.05

const FRESH_FOR = SECOND

interface Line {
  readonly begins: string
  readonly ends: string
}

const ALL: Line = {
  begins: 'the disk is full: uploads are refused until more than HOLDFAST_MIN_FREE_SPACE is free',
  ends: 'the disk has room again: uploads are taken',
}
const GUESTS: Line = {
  begins: "the disk is getting full: guests' uploads are refused below twice HOLDFAST_MIN_FREE_SPACE",
  ends: "the disk has room for guests' uploads again",
}

export function createDiskWatch(parts: {
  /** Bytes left under the blobs, and under the database; null where that is another machine's disk. */
  blobSpace: () => Promise<number | null>
  databaseSpace: () => Promise<number | null>
  floor: number
  /** Whether guests may upload at all. */
  guests: boolean
  clock: Clock
  log: Log
}): DiskWatch {
  const { blobSpace, databaseSpace, floor, guests, clock, log } = parts
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
      // Where the bytes go to another machine, guests need no more of this disk than others.
      takesGuests: guests && (floor === 0 || !isBelow(ofBlobs === null ? floor : GUEST_FLOORS * floor)),
    }
  }

  function look(): Promise<DiskSpace> {
    const now = clock.monotonic()
    if (last === null || now - last.at >= FRESH_FOR) last = { at: now, space: measure() }
    return last.space
  }

  function tell(line: Line, isRefused: boolean, { free }: DiskSpace): void {
    const wasRefused = isTold.get(line) === true
    if (isRefused === wasRefused) return
    if (!isRefused && free !== null && free < floor * (line === ALL ? 1 : GUEST_FLOORS) * CLEARLY) return
    isTold.set(line, isRefused)
    const fields = { free: formatSize(free ?? 0), floor: formatSize(floor) }
    if (isRefused) log.warn(fields, line.begins)
    else log.info(fields, line.ends)
  }

  return {
    look,

    async watch() {
      const space = await look()
      tell(ALL, !space.takesUploads, space)
      if (guests) tell(GUESTS, !space.takesGuests, space)
    },
  }
}

/** Says so at the start when the floor can never be kept on a disk of that size. */
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

import { type CancelTimer, type Clock, repeat, SECOND } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'

/**
 * Limits for bodies that are read into memory, forms and JSON: a minimum speed, and maximum numbers and bytes
 * for each address and for all together.
 */
export interface SmallBodies {
  /**
   * Throws Refusal RATE_LIMITED when the address has too many bodies under way, SERVER_BUSY when all together
   * have.
   */
  begin(source: ReadableStream<Uint8Array>, bucket: string): SmallBody
}

export interface SmallBody {
  /**
   * The next bytes, null at the end. Throws Refusal REQUEST_TIMEOUT when the sender is too slow, and those of
   * `begin` when the bytes exceed a limit together with those of others.
   */
  next(): Promise<Uint8Array | null>
  /** Must be called when no more is read. Cancels an unread rest. */
  end(): void
}

/**
 * Time limit of a sender: this, and a second for each so many bytes: 31 s for 16 KiB, 94 s for a megabyte.
 */
const GRACE = 30 * SECOND
const LEAST_PER_SECOND = 16 * 1024
const CHECK_EVERY = SECOND

/** Maximum number of bodies under way, and of their buffered bytes. */
export interface BodyCeiling {
  readonly bodies: number
  readonly bytes: number
}

const MB = 1024 * 1024

/** Limit per address. All bodies of 64 KiB fit, or sixteen of 1 MiB. */
export const OF_ADDRESS: BodyCeiling = { bodies: 256, bytes: 16 * MB }
/** Limit for all addresses, in this process. */
export const OF_ALL: BodyCeiling = { bodies: 4096, bytes: 128 * MB }

/** Seconds suggested for a retry. */
const RETRY = 5

interface Load {
  bodies: number
  bytes: number
}

interface UnderWay {
  readonly began: number
  received: number
  late(): void
}

export function createSmallBodies(clock: Clock, ofAll = OF_ALL, ofAddress = OF_ADDRESS): SmallBodies {
  const all: Load = { bodies: 0, bytes: 0 }
  const perBucket = new Map<string, Load>()
  const underWay = new Set<UnderWay>()
  let stopLooking: CancelTimer | null = null

  function look(): void {
    const now = clock.monotonic()
    for (const body of underWay) {
      if (now - body.began > GRACE + (body.received / LEAST_PER_SECOND) * SECOND) body.late()
    }
  }

  /** Adds to the load. Throws, without a change, when a limit would be exceeded. */
  function add(load: Load, { bodies, bytes }: Load): void {
    if (load.bodies + bodies > ofAddress.bodies || load.bytes + bytes > ofAddress.bytes) {
      throw new Refusal(
        'RATE_LIMITED',
        'Too many requests come from your network at once; try again soon',
        RETRY,
      )
    }
    if (all.bodies + bodies > ofAll.bodies || all.bytes + bytes > ofAll.bytes) {
      throw new Refusal('SERVER_BUSY', 'Too many requests come to this server at once; try again soon', RETRY)
    }
    for (const each of [load, all]) {
      each.bodies += bodies
      each.bytes += bytes
    }
  }

  function enter(bucket: string, body: UnderWay): Load {
    const load = perBucket.get(bucket) ?? { bodies: 0, bytes: 0 }
    add(load, { bodies: 1, bytes: 0 })
    perBucket.set(bucket, load)
    underWay.add(body)
    stopLooking ??= repeat(clock.timers, CHECK_EVERY, look)
    return load
  }

  function leave(bucket: string, load: Load, body: UnderWay): void {
    if (!underWay.delete(body)) return
    for (const each of [load, all]) {
      each.bodies -= 1
      each.bytes -= body.received
    }
    if (load.bodies === 0) perBucket.delete(bucket)
    if (underWay.size > 0 || stopLooking === null) return
    stopLooking()
    stopLooking = null
  }

  return {
    begin(source, bucket) {
      let isLate = false
      let isOver = false
      const body: UnderWay = {
        began: clock.monotonic(),
        received: 0,
        late() {
          isLate = true
          // Ends a pending read at once, as if the body were over.
          letGo(reader)
        },
      }
      const load = enter(bucket, body)
      const reader = source.getReader()
      return {
        async next() {
          const { done, value } = await reader.read()
          if (isLate) throw new Refusal('REQUEST_TIMEOUT', 'The request came too slowly; send it again')
          isOver = done
          const bytes = value?.byteLength ?? 0
          add(load, { bodies: 0, bytes })
          body.received += bytes
          return value ?? null
        },
        end() {
          leave(bucket, load, body)
          if (!isOver) letGo(reader)
        },
      }
    },
  }
}

function letGo(reader: ReadableStreamGenericReader): void {
  // Errors after the cancellation are irrelevant.
  reader.cancel().catch(() => {})
}

import type { Holder, Holding, SharedCeiling } from '../../core/shares.ts'
import { Shares } from '../../core/shares.ts'
import { type CancelTimer, type Clock, repeat, SECOND } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'

/** Limits for bodies in memory (forms and JSON): minimum speed; numbers and bytes per address and in all. */
export interface SmallBodies {
  begin(source: ReadableStream<Uint8Array>, holder: Holder): SmallBody
}

export interface SmallBody {
  /** Throws Refusal REQUEST_TIMEOUT for a slow sender, SERVER_BUSY when it must yield, and like `begin`. */
  next(): Promise<Uint8Array | null>
  /** Must be called after the last read. Cancels an unread rest. */
  end(): void
}

/** Time limit: this and a second per so many bytes: 31 s for 16 KiB, 94 s for a megabyte. */
const GRACE = 30 * SECOND
const LEAST_PER_SECOND = 16 * 1024
const CHECK_EVERY = SECOND

const MB = 1024 * 1024

/** In this process. One address has room for all bodies of 64 KiB, or sixteen of 1 MiB. */
export const SMALL_BODIES: SharedCeiling = {
  all: { holders: 4096, size: 128 * MB },
  each: { holders: 256, size: 16 * MB },
  kept: 1 / 4,
  idleAfter: 5 * SECOND,
}

interface UnderWay {
  readonly began: number
  received: number
  stop(why: Refusal): void
}

export function createSmallBodies(clock: Clock, ceiling = SMALL_BODIES): SmallBodies {
  const shares = new Shares(clock, ceiling)
  const underWay = new Set<UnderWay>()
  let stopLooking: CancelTimer | null = null

  function look(): void {
    const now = clock.monotonic()
    for (const body of underWay) {
      if (now - body.began <= GRACE + (body.received / LEAST_PER_SECOND) * SECOND) continue
      body.stop(new Refusal('REQUEST_TIMEOUT', 'The request came too slowly; send it again'))
    }
  }

  function enter(body: UnderWay): void {
    underWay.add(body)
    stopLooking ??= repeat(clock.timers, CHECK_EVERY, look)
  }

  function leave(body: UnderWay, holding: Holding): void {
    if (!underWay.delete(body)) return
    holding.end()
    if (underWay.size > 0 || stopLooking === null) return
    stopLooking()
    stopLooking = null
  }

  return {
    begin(source, holder) {
      let stopped: Refusal | null = null
      let isOver = false
      const body: UnderWay = {
        began: clock.monotonic(),
        received: 0,
        stop(why) {
          stopped ??= why
          // Ends a pending read like the end of the body.
          letGo(reader)
        },
      }
      const holding = shares.begin(holder, 0, () => body.stop(yielded()))
      enter(body)
      const reader = source.getReader()
      return {
        async next() {
          const { done, value } = await reader.read()
          if (stopped !== null) throw stopped
          isOver = done
          const bytes = value?.byteLength ?? 0
          holding.grow(bytes)
          body.received += bytes
          return value ?? null
        },
        end() {
          leave(body, holding)
          if (!isOver) letGo(reader)
        },
      }
    },
  }
}

/** Seconds. */
const RETRY = 5

function yielded(): Refusal {
  return new Refusal(
    'SERVER_BUSY',
    'The request came so slowly that others took its place; try again soon',
    RETRY,
  )
}

function letGo(reader: ReadableStreamGenericReader): void {
  reader.cancel().catch(() => {})
}

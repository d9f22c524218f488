import type { Holder, Holding, SharedCeiling } from '../../core/shares.ts'
import { Shares } from '../../core/shares.ts'
import { type CancelTimer, type Clock, repeat, SECOND } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'

/**
 * Limits for bodies that are read into memory, forms and JSON: a minimum speed, and maximum numbers and bytes
 * for each address and for all together.
 */
export interface SmallBodies {
  /** Throws Refusal RATE_LIMITED or SERVER_BUSY as `Shares.begin` does. */
  begin(source: ReadableStream<Uint8Array>, holder: Holder): SmallBody
}

export interface SmallBody {
  /**
   * The next bytes, null at the end. Throws Refusal REQUEST_TIMEOUT when the sender is too slow, SERVER_BUSY when it
   * has to end for another, and those of `begin` when the bytes exceed a limit together with those of others.
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

const MB = 1024 * 1024

/** In this process. Of one address all bodies of 64 KiB fit, or sixteen of 1 MiB. */
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
          // Ends a pending read at once, as if the body were over.
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

/** Seconds suggested for a retry. */
const RETRY = 5

function yielded(): Refusal {
  return new Refusal(
    'SERVER_BUSY',
    'The request came so slowly that others took its place; try again soon',
    RETRY,
  )
}

function letGo(reader: ReadableStreamGenericReader): void {
  // Errors after the cancellation are irrelevant.
  reader.cancel().catch(() => {})
}

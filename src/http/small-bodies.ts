import { type Clock, SECOND } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'

/**
 * Bodies that are read into memory: forms and JSON. Their senders must keep a pace, and there is an end to how many one
 * address sends at a time.
 */
export interface SmallBodies {
  /** Throws Refusal RATE_LIMITED when the address sends too many already. */
  begin(source: ReadableStream<Uint8Array>, bucket: string): SmallBody
}

export interface SmallBody {
  /** The next bytes, null at the end. Throws Refusal REQUEST_TIMEOUT when the sender is too slow. */
  next(): Promise<Uint8Array | null>
  /** To be called once nothing more is read. What was not read is let go of. */
  end(): void
}

/** A sender has this long, and a second more for each so many bytes: 16 KiB have 31 s, a megabyte 94. */
const GRACE = 30 * SECOND
const LEAST_PER_SECOND = 16 * 1024
const LOOK_EVERY = SECOND

/** Bodies that one address may have under way. With forms of 64 KiB they take 16 MiB. */
export const AT_ONCE = 256

interface UnderWay {
  readonly began: number
  received: number
  late(): void
}

export function createSmallBodies(clock: Clock): SmallBodies {
  const perBucket = new Map<string, number>()
  const underWay = new Set<UnderWay>()
  let timer: Timer | null = null

  function look(): void {
    const now = clock.monotonic()
    for (const body of underWay) {
      if (now - body.began > GRACE + (body.received / LEAST_PER_SECOND) * SECOND) body.late()
    }
  }

  function enter(bucket: string, body: UnderWay): void {
    const others = perBucket.get(bucket) ?? 0
    if (others >= AT_ONCE) {
      throw new Refusal('RATE_LIMITED', 'Too many requests come from your network at once; try again soon', 5)
    }
    perBucket.set(bucket, others + 1)
    underWay.add(body)
    timer ??= setInterval(look, LOOK_EVERY)
  }

  function leave(bucket: string, body: UnderWay): void {
    if (!underWay.delete(body)) return
    const others = (perBucket.get(bucket) ?? 1) - 1
    if (others === 0) perBucket.delete(bucket)
    else perBucket.set(bucket, others)
    if (underWay.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }

  return {
    begin(source, bucket) {
      const reader = source.getReader()
      let isLate = false
      let isOver = false
      const body: UnderWay = {
        began: clock.monotonic(),
        received: 0,
        late() {
          isLate = true
          // A read that is pending comes back at once, as if the body were over.
          letGo(reader)
        },
      }
      enter(bucket, body)
      return {
        async next() {
          const { done, value } = await reader.read()
          if (isLate) throw new Refusal('REQUEST_TIMEOUT', 'The request came too slowly; send it again')
          isOver = done
          body.received += value?.byteLength ?? 0
          return value ?? null
        },
        end() {
          leave(bucket, body)
          if (!isOver) letGo(reader)
        },
      }
    },
  }
}

function letGo(reader: ReadableStreamGenericReader): void {
  // What it fails with by now is of no interest to anybody.
  reader.cancel().catch(() => {})
}

import { type Clock, MINUTE, repeat } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { BodyReader } from './multipart.ts'

/** Bytes a sender has to manage in a minute of our waiting: 1 KiB a second. */
const LEAST_PER_MINUTE = 60 * 1024
const LOOK_EVERY = 1000

/** A chunk is good until the next read. */
export interface MinimumRateBody extends BodyReader {
  /** Whether all of it was read. */
  hasEnded(): boolean
  /** Bytes that have come so far. */
  received(): number
  /** Milliseconds for which the present read has waited for the sender; 0 when nobody reads. */
  quietFor(): number
  /** Lets the next read fail with the error, a pending one too. */
  end(reason: Refusal): void
  /**
   * Reads on and drops what comes, at most `most` bytes and for two seconds at most, after nobody wants the body
   * any more. Tells whether it has ended.
   */
  drain(most: number): Promise<boolean>
}

/** Milliseconds that a refused sender gets to end its body. */
const PATIENCE = 2000

/**
 * Lets the chunk's memory go at once. Left to the garbage collector, what many uploads have brought would pile up
 * between its rounds.
 */
function free(chunk: Uint8Array | null): void {
  if (chunk === null || !(chunk.buffer instanceof ArrayBuffer)) return
  if (chunk.byteLength === chunk.buffer.byteLength) chunk.buffer.transfer(0)
}

/**
 * The body as it comes. Reading fails with Refusal REQUEST_TIMEOUT when the sender is too slow; only time spent
 * waiting for the sender counts, not what our own disk takes. `came` is told of each chunk, and waited for where
 * it returns a promise.
 */
export function minimumRateBody(
  body: ReadableStream<Uint8Array>,
  clock: Clock,
  came: () => Promise<void> | null = () => null,
): MinimumRateBody {
  const reader = body.getReader()
  let received = 0
  let failure: Refusal | null = null
  let waitingSince: number | null = null
  let waited = 0
  let receivedBefore = 0
  let last: Uint8Array | null = null
  let hasEnded = false

  function end(reason: Refusal): void {
    stopLooking()
    failure ??= reason
    // A read that is pending comes back at once, as if the body were over.
    reader.cancel(reason).catch(() => {})
  }

  function look(): void {
    const waiting = waitingSince === null ? 0 : clock.monotonic() - waitingSince
    if (waited + waiting < MINUTE) return
    if (received - receivedBefore < LEAST_PER_MINUTE) {
      end(new Refusal('REQUEST_TIMEOUT', 'The upload came too slowly and was ended; start it again'))
      return
    }
    receivedBefore = received
    waited = 0
    if (waitingSince !== null) waitingSince = clock.monotonic()
  }

  const stopLooking = repeat(clock.timers, LOOK_EVERY, look)

  return {
    async read() {
      free(last)
      last = null
      waitingSince = clock.monotonic()
      try {
        const { done, value } = await reader.read()
        if (failure !== null) throw failure
        if (done) {
          stopLooking()
          hasEnded = true
          return { done: true }
        }
        received += value.byteLength
        last = value
        const noting = value.byteLength === 0 ? null : came()
        if (noting !== null) await noting
        return { done: false, value }
      } finally {
        waited += clock.monotonic() - waitingSince
        waitingSince = null
      }
    },

    hasEnded: () => hasEnded,
    received: () => received,
    quietFor: () => (waitingSince === null ? 0 : clock.monotonic() - waitingSince),
    end,

    // What has not been read stays where it is, for `drain`.
    async cancel() {
      stopLooking()
    },

    async drain(most) {
      let gaveUp = false
      const cancelPatience = clock.timers.after(PATIENCE, () => {
        gaveUp = true
        reader.cancel().catch(() => {})
      })
      try {
        for (let left = most; left > 0; ) {
          const { done, value } = await reader.read()
          if (done) return !gaveUp && failure === null
          left -= value.byteLength
        }
      } catch {
        // The sender has gone, and will not read the answer.
      } finally {
        cancelPatience()
      }
      reader.cancel().catch(() => {})
      return false
    },
  }
}

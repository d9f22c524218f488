import { type Clock, MINUTE, repeat } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { BodyReader } from './multipart.ts'

/** Bytes for each minute spent waiting for the client: 1 KiB a second. */
const LEAST_PER_MINUTE = 60 * 1024
const LOOK_EVERY = 1000

/** A chunk is valid until the next read. */
export interface MinimumRateBody extends BodyReader {
  hasEnded(): boolean
  received(): number
  /** Milliseconds that the pending read has waited; 0 without one. */
  quietFor(): number
  end(reason: Refusal): void
  /** Reads and drops at most `most` bytes, for two seconds. Returns whether the body has ended. */
  drain(most: number): Promise<boolean>
}

/** Milliseconds. */
const PATIENCE = 2000

/** Frees memory at once: many uploads' chunks would pile up between garbage collections. */
function free(chunk: Uint8Array | null): void {
  if (chunk === null || !(chunk.buffer instanceof ArrayBuffer)) return
  if (chunk.byteLength === chunk.buffer.byteLength) chunk.buffer.transfer(0)
}

/** Throws Refusal REQUEST_TIMEOUT for a slow client; our own disk does not count. `came`'s promise is awaited. */
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

    // Unread bytes stay for `drain`.
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
        // The client has gone, and will not read the answer.
      } finally {
        cancelPatience()
      }
      reader.cancel().catch(() => {})
      return false
    },
  }
}

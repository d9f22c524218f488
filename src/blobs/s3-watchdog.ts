import type { SilenceWatch } from '../domain/silence.ts'
import type { S3Requests, S3Try, WatchedTry } from './s3-requests.ts'
import { isStreamed } from './s3-transfer.ts'
import { Watchdog } from './watchdog.ts'

/** Milliseconds. */
export interface S3Timeouts {
  /** From a request without a body to the head of its answer. */
  readonly answer: number
  /** Between two chunks of a body, in either direction. */
  readonly stall: number
}

/** Bytes of a body read in one piece that must arrive per `stall`. */
const CHUNK = 256 * 1024

export const usualTimeouts: S3Timeouts = { answer: 10_000, stall: 30_000 }

/**
 * Aborts stalled tries with S3Failure, also when the runtime ignores the signal. After `takeBody` the body's reader
 * watches it; the timeout of `bytes` follows the length. `silence`: whether the store answers; null ignores that.
 */
export function watchedRequests(
  requests: S3Requests<WatchedTry>,
  timeouts: S3Timeouts,
  silence: SilenceWatch | null = null,
): S3Requests<S3Try> {
  return {
    async perform(request, use) {
      const { body, answerWithin } = request
      const watchdog = new Watchdog(request.signal)
      let isTaken = false
      watchdog.arm(
        isStreamed(body) ? Math.max(timeouts.stall, answerWithin ?? 0) : (answerWithin ?? timeouts.answer),
      )
      const attempt = (moved: () => void) => {
        const restart = () => {
          watchdog.restart()
          moved()
        }
        return requests.perform({ ...request, signal: watchdog.signal, moved: restart }, (reply) => {
          silence?.heard()
          moved()
          watchdog.arm(timeouts.stall)
          const takeBody = () => {
            isTaken = true
            watchdog.disarm()
            return reply.takeBody()
          }
          const bytes = (length: number) => {
            watchdog.arm(timeouts.stall * Math.ceil(length / CHUNK))
            return reply.bytes(length)
          }
          return use({ ...reply, bytes, takeBody, close: () => watchdog.abort('the reader has gone') })
        })
      }
      try {
        return await (silence?.run(attempt) ?? attempt(() => {}))
      } catch (error) {
        watchdog.abort('it was given up')
        throw error
      } finally {
        if (!isTaken) watchdog.release()
      }
    },
  }
}

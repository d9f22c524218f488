import { type Clock, MINUTE } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'

/** Bytes a sender has to manage in a minute of our waiting: 1 KiB a second. */
const LEAST_PER_MINUTE = 60 * 1024
const LOOK_EVERY = 1000

export interface PacedBody {
  readonly stream: ReadableStream<Uint8Array>
  /** Bytes that have come so far. */
  received(): number
  /** Ends the stream with the error. */
  end(reason: Refusal): void
  /**
   * Reads on and drops what comes, at most `most` bytes and for a while, after nobody wants the stream any more.
   * Tells whether the body has ended.
   */
  readOff(most: number): Promise<boolean>
}

/**
 * The body as it comes, ended with Refusal REQUEST_TIMEOUT when the sender is too slow. Only time spent waiting
 * for the sender counts, not what our own disk takes.
 */
export function pacedBody(body: ReadableStream<Uint8Array>, clock: Clock): PacedBody {
  const reader = body.getReader()
  let received = 0
  let waitingSince: number | null = null
  let waited = 0
  let receivedBefore = 0
  let stop: (reason: unknown) => void = () => {}

  const waitedSoFar = () => waited + (waitingSince === null ? 0 : clock.monotonic() - waitingSince)

  const timer = setInterval(() => {
    if (waitedSoFar() < MINUTE) return
    if (received - receivedBefore < LEAST_PER_MINUTE) {
      stop(new Refusal('REQUEST_TIMEOUT', 'The upload came too slowly and was ended; start it again'))
      return
    }
    receivedBefore = received
    waited = 0
    if (waitingSince !== null) waitingSince = clock.monotonic()
  }, LOOK_EVERY)

  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stop = (reason) => {
          clearInterval(timer)
          controller.error(reason)
          reader.cancel(reason).catch(() => {})
        }
      },
      async pull(controller) {
        waitingSince = clock.monotonic()
        try {
          const { done, value } = await reader.read()
          if (done) {
            clearInterval(timer)
            controller.close()
            return
          }
          received += value.byteLength
          controller.enqueue(value)
        } catch (error) {
          stop(error)
        } finally {
          if (waitingSince !== null) waited += clock.monotonic() - waitingSince
          waitingSince = null
        }
      },
      cancel() {
        clearInterval(timer)
      },
    },
    { highWaterMark: 0 },
  )
  return {
    stream,
    received: () => received,
    end: (reason) => stop(reason),
    readOff: (most) => readOff(reader, most),
  }
}

/** Milliseconds that a refused sender gets to end its body. */
const PATIENCE = 2000

/** Reads and drops at most `most` bytes, for two seconds at most. Tells whether the body has ended. */
async function readOff(
  reader: { read(): Promise<{ done: boolean; value?: Uint8Array }>; cancel(): Promise<void> },
  most: number,
): Promise<boolean> {
  let gaveUp = false
  const patience = setTimeout(() => {
    gaveUp = true
    reader.cancel().catch(() => {})
  }, PATIENCE)
  try {
    for (let left = most; left > 0; ) {
      const { done, value } = await reader.read()
      if (done) return !gaveUp
      left -= value?.byteLength ?? 0
    }
  } catch {
    // The sender has gone, and will not read the answer.
  } finally {
    clearTimeout(patience)
  }
  reader.cancel().catch(() => {})
  return false
}

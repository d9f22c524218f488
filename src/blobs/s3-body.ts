import { unlessAborted } from '../domain/abort.ts'
import type { S3Stream } from './s3-client.ts'
import { noAnswer, s3StoreFailure } from './s3-failure.ts'
import { Watchdog } from './watchdog.ts'

/**
 * The body of an answer as a stream of exactly `length` bytes, which otherwise fails with StoreFailure. It is read on
 * demand, so a slow reader slows down the store; `stall` is the timeout for each chunk in milliseconds.
 */
export function s3Body(answer: S3Stream, length: number, stall: number): ReadableStream<Uint8Array> {
  const chunks = new S3Chunks(answer, length, stall)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { chunk, isLast } = await chunks.next()
          if (chunk.byteLength > 0) controller.enqueue(chunk)
          if (isLast) controller.close()
        } catch (error) {
          throw s3StoreFailure(error)
        }
      },
      cancel: (reason) => chunks.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** The body in one piece. Throws S3Failure. */
export async function s3Bytes(
  answer: S3Stream,
  length: number,
  stall: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length)
  await s3Fill(answer, bytes, stall)
  return bytes
}

/** Reads the body into the target, which has its length. Throws S3Failure. */
export async function s3Fill(answer: S3Stream, target: Uint8Array, stall: number): Promise<void> {
  const chunks = new S3Chunks(answer, target.length, stall)
  for (let at = 0; ; ) {
    const { chunk, isLast } = await chunks.next()
    target.set(chunk, at)
    at += chunk.byteLength
    if (isLast) return
  }
}

/** What is used of a stream's reader, whose types differ between Bun and Node.js. */
interface ChunkReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
  cancel(reason: unknown): Promise<void>
}

/** The chunks of a body that has to have a certain length. */
class S3Chunks {
  readonly #answer: S3Stream
  readonly #length: number
  readonly #stall: number
  readonly #reader: ChunkReader
  readonly #watchdog = new Watchdog()
  #received = 0

  constructor(answer: S3Stream, length: number, stall: number) {
    this.#answer = answer
    this.#length = length
    this.#stall = stall
    this.#reader = (answer.body ?? new Blob([]).stream()).getReader()
    this.#watchdog.signal.addEventListener('abort', () => answer.close())
  }

  /** Throws S3Failure when the store sends fewer or more bytes than it should. */
  async next(): Promise<{ readonly chunk: Uint8Array; readonly isLast: boolean }> {
    const { signal } = this.#watchdog
    try {
      this.#watchdog.arm(this.#stall)
      const { done, value } = await unlessAborted(signal, this.#reader.read())
      this.#watchdog.disarm()
      this.#received += value?.byteLength ?? 0
      if (this.#received > this.#length || (done && this.#received < this.#length)) {
        throw new Error('it has another length')
      }
      const isLast = this.#received === this.#length
      if (isLast) this.#watchdog.release()
      return { chunk: value ?? new Uint8Array(), isLast }
    } catch (error) {
      const cause = signal.aborted ? signal.reason : error
      this.#release()
      throw noAnswer(`the body after ${this.#received} of ${this.#length} bytes`, cause)
    }
  }

  async cancel(reason: unknown): Promise<void> {
    this.#release()
    // The connection is closed already, and the reader may report that again.
    await this.#reader.cancel(reason).catch(() => {})
  }

  #release(): void {
    this.#watchdog.release()
    this.#answer.close()
  }
}

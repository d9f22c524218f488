import { unlessAborted } from '../domain/abort.ts'
import type { S3Stream } from './s3-client.ts'
import { asStoreFailure, noAnswer } from './s3-failure.ts'
import { watchdog } from './watchdog.ts'

/**
 * The body of an answer as a blob's bytes: `length` of them, or the stream fails with StoreFailure. Nothing is read
 * before it is wanted, so a slow reader holds the store back; `stall` is how many milliseconds the store may let us wait.
 */
export function s3Body(answer: S3Stream, length: number, stall: number): ReadableStream<Uint8Array> {
  const chunks = chunksOf(answer, length, stall)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { chunk, isLast } = await chunks.next()
          if (chunk.byteLength > 0) controller.enqueue(chunk)
          if (isLast) controller.close()
        } catch (error) {
          throw asStoreFailure(error)
        }
      },
      cancel: (reason) => chunks.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** The same, whole. Throws S3Failure. */
export async function s3Bytes(
  answer: S3Stream,
  length: number,
  stall: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length)
  await s3Fill(answer, bytes, stall)
  return bytes
}

/** The same, into the target, which they fill. Throws S3Failure. */
export async function s3Fill(answer: S3Stream, target: Uint8Array, stall: number): Promise<void> {
  const chunks = chunksOf(answer, target.length, stall)
  for (let at = 0; ; ) {
    const { chunk, isLast } = await chunks.next()
    target.set(chunk, at)
    at += chunk.byteLength
    if (isLast) return
  }
}

interface Chunks {
  /** Throws S3Failure when the store stops before the end, or sends more than it should. */
  next(): Promise<{ readonly chunk: Uint8Array; readonly isLast: boolean }>
  cancel(reason: unknown): Promise<void>
}

function chunksOf(answer: S3Stream, length: number, stall: number): Chunks {
  const reader = (answer.body ?? new Blob([]).stream()).getReader()
  const dog = watchdog(undefined)
  dog.signal.addEventListener('abort', () => answer.close())
  let received = 0

  function letGo(): void {
    dog.end()
    answer.close()
  }

  return {
    async next() {
      try {
        dog.arm(stall)
        const { done, value } = await unlessAborted(dog.signal, reader.read())
        dog.disarm()
        received += value?.byteLength ?? 0
        if (received > length || (done && received < length)) throw new Error('it has another length')
        const isLast = received === length
        if (isLast) dog.end()
        return { chunk: value ?? new Uint8Array(), isLast }
      } catch (error) {
        const cause = dog.signal.aborted ? dog.signal.reason : error
        letGo()
        throw noAnswer(`the body after ${received} of ${length} bytes`, cause)
      }
    },

    async cancel(reason) {
      letGo()
      // The connection is gone already, and its end may be told once more here.
      await reader.cancel(reason).catch(() => {})
    },
  }
}

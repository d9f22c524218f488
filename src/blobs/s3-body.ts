import type { BlobChunks } from './blob-store.ts'
import type { S3Stream } from './s3-client.ts'
import { noAnswer, S3Failure, s3StoreFailure } from './s3-failure.ts'
import { Watchdog } from './watchdog.ts'

/** Exactly `length` bytes, else StoreFailure. Read on demand. `stall`: timeout for each chunk in milliseconds. */
export function s3Chunks(answer: S3Stream, length: number, stall: number): BlobChunks {
  const chunks = new S3Chunks(answer, length, stall)
  return {
    async next() {
      try {
        return await chunks.next()
      } catch (error) {
        throw s3StoreFailure(error)
      }
    },
    cancel: () => chunks.cancel(),
    release() {},
  }
}

/** Collected by the runtime: faster than chunks, with a little more memory. Throws S3Failure. */
export async function s3Whole(
  answer: S3Stream,
  length: number,
  stall: number,
): Promise<Uint8Array<ArrayBuffer>> {
  // Nothing else bounds the collected bytes.
  if (answer.headers.get('Content-Length') !== String(length)) return s3Bytes(answer, length, stall)
  const what = `the body of ${length} bytes`
  const bytes = await answer.bytes(length).catch((error: unknown) => {
    throw error instanceof S3Failure ? error : noAnswer(what, error)
  })
  if (bytes.byteLength === length) return bytes
  throw noAnswer(what, new Error('it has another length'))
}

export async function s3Bytes(
  answer: S3Stream,
  length: number,
  stall: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length)
  await s3Fill(answer, bytes, stall)
  return bytes
}

/** The target has the body's length. Throws S3Failure. */
export async function s3Fill(answer: S3Stream, target: Uint8Array, stall: number): Promise<void> {
  const chunks = new S3Chunks(answer, target.length, stall)
  for (let at = 0; ; ) {
    const chunk = await chunks.next()
    if (chunk === null) return
    target.set(chunk, at)
    at += chunk.byteLength
  }
}

interface ChunkReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
  cancel(reason: unknown): Promise<void>
}

interface PendingChunk {
  readonly resolve: (chunk: Uint8Array | null) => void
  readonly reject: (failure: S3Failure) => void
}

class S3Chunks {
  readonly #answer: S3Stream
  readonly #length: number
  readonly #stall: number
  readonly #reader: ChunkReader
  readonly #watchdog = new Watchdog()
  #pending: PendingChunk | null = null
  #received = 0
  #failure: S3Failure | null = null
  #isCancelled = false

  constructor(answer: S3Stream, length: number, stall: number) {
    this.#answer = answer
    this.#length = length
    this.#stall = stall
    this.#reader = (answer.takeBody() ?? new Blob([]).stream()).getReader()
    // Bun does not end every aborted read.
    this.#watchdog.signal.addEventListener('abort', () => this.#fail(this.#watchdog.signal.reason))
  }

  /** Null at the end and after `cancel`. Throws S3Failure when the store sends fewer or more bytes. */
  next(): Promise<Uint8Array | null> {
    if (this.#failure !== null) return Promise.reject(this.#failure)
    if (this.#isCancelled || this.#isWhole) return Promise.resolve(null)
    // Each chunk passes here: awaiting it with a listener at the signal would cost more than the rest.
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject }
      this.#watchdog.arm(this.#stall)
      this.#read()
    })
  }

  cancel(): void {
    if (this.#isCancelled || this.#isWhole) return
    this.#isCancelled = true
    this.#settled()?.resolve(null)
    this.#leave()
    // The connection is closed already, and the reader may report that again.
    this.#reader.cancel('the reader has gone').catch(() => {})
  }

  get #isWhole(): boolean {
    return this.#received === this.#length
  }

  #read(): void {
    this.#reader.read().then(
      ({ done, value }) => this.#came(done, value),
      (error: unknown) => this.#fail(error),
    )
  }

  #came(done: boolean, chunk: Uint8Array | undefined): void {
    if (this.#pending === null) return
    this.#received += chunk?.byteLength ?? 0
    if (this.#received > this.#length || (done && !this.#isWhole)) {
      this.#fail(new Error('it has another length'))
    } else if (done || chunk === undefined) this.#over(null)
    else if (chunk.byteLength === 0) this.#read()
    else this.#over(chunk)
  }

  #over(chunk: Uint8Array | null): void {
    if (this.#isWhole) this.#watchdog.release()
    else this.#watchdog.disarm()
    this.#settled()?.resolve(chunk)
  }

  #fail(cause: unknown): void {
    if (this.#isCancelled || this.#failure !== null) return
    this.#failure = noAnswer(`the body after ${this.#received} of ${this.#length} bytes`, cause)
    this.#settled()?.reject(this.#failure)
    this.#leave()
  }

  #settled(): PendingChunk | null {
    const pending = this.#pending
    this.#pending = null
    return pending
  }

  #leave(): void {
    this.#watchdog.release()
    this.#answer.close()
  }
}

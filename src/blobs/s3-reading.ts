import { type BlobKey, wholeNumber } from '../domain/ids.ts'
import { assertSize, type BlobChunks, BlobMissing } from './blob-store.ts'
import { type S3Client, type S3Stream, Watchdog } from './s3-client.ts'
import { asS3Failures, noAnswer, S3Failure, s3StoreFailure } from './s3-failure.ts'
import { isNoSuchKey, objectOf, objectSize } from './s3-objects.ts'
import type { PartMemory } from './s3-uploads.ts'

/** Bytes. Smaller ranges are read in one piece, which is faster, and survives a broken connection by a retry. */
const LARGEST_WHOLE_READ = 512 * 1024
/** Bytes, while there is memory, which slow readers hold. */
const LARGEST_SHARED_READ = 1024 * 1024

/** `end` is exclusive. */
interface BlobRange {
  readonly key: BlobKey
  /** Set where the bytes are not in the blob's own object. */
  readonly object?: string
  readonly start: number
  readonly end: number
  readonly size: number | undefined
}

/** As `BlobStore.read`. `shared`: memory for ranges held whole until they are sent. */
export async function readChunks(
  client: S3Client,
  range: BlobRange,
  shared: PartMemory,
): Promise<BlobChunks> {
  const length = range.end - range.start
  const isShared = length > LARGEST_WHOLE_READ && length <= LARGEST_SHARED_READ && shared.take(length)
  const give = () => {
    if (isShared) shared.give(length)
  }
  try {
    const found = await wholeOrChunks(client, range, isShared ? LARGEST_SHARED_READ : LARGEST_WHOLE_READ)
    return found instanceof Uint8Array ? oneChunk(found, give) : found
  } catch (error) {
    give()
    throw error
  }
}

async function wholeOrChunks(
  client: S3Client,
  range: BlobRange,
  largest: number,
): Promise<Uint8Array<ArrayBuffer> | BlobChunks> {
  const length = range.end - range.start
  const { stall } = client.timeouts
  if (length <= 0) {
    await assertStored(client, range)
    return new Uint8Array()
  }
  return openRange<Uint8Array<ArrayBuffer> | BlobChunks>(client, range, async (answer) =>
    length > largest ? s3Chunks(answer, length, stall) : s3Whole(answer, length, stall),
  )
}

function oneChunk(bytes: Uint8Array, over: () => void): BlobChunks {
  let left: Uint8Array | null = bytes.byteLength === 0 ? null : bytes
  let isHeld = true
  const end = () => {
    left = null
    if (isHeld) over()
    isHeld = false
  }
  return {
    async next() {
      const chunk = left
      left = null
      if (chunk === null) end()
      return chunk
    },
    cancel: end,
    release: end,
  }
}

/** The target has the range's length. */
export async function readRangeInto(client: S3Client, range: BlobRange, target: Uint8Array): Promise<void> {
  if (target.length === 0) return assertStored(client, range)
  await openRange(client, range, (answer) => s3Fill(answer, target, client.timeouts.stall))
}

function openRange<T>(
  client: S3Client,
  { key, object = objectOf(key), start, end, size }: BlobRange,
  take: (answer: S3Stream) => Promise<T>,
): Promise<T> {
  const headers = { Range: `bytes=${start}-${end - 1}` }
  return asS3Failures(async () => {
    try {
      return await client.open({ method: 'GET', object, headers }, (answer) => {
        const stored = wholeSize(answer.status, answer.headers)
        if (size !== undefined && stored !== null) assertSize(key, stored, size)
        assertRange(answer.status, answer.headers, start, end)
        return take(answer)
      })
    } catch (error) {
      if (isNoSuchKey(error)) throw new BlobMissing(key, { cause: error })
      // Status 416 shows that the object is too short, but not its size.
      if (size !== undefined && error instanceof S3Failure && error.status === 416)
        await assertSizeInStore(client, key, size)
      throw error
    }
  })
}

/** Throws BlobMissing, BlobDamaged or StoreFailure. */
function assertStored(client: S3Client, { key, size }: BlobRange): Promise<void> {
  return asS3Failures(() => assertSizeInStore(client, key, size))
}

/** Throws BlobMissing, BlobDamaged or S3Failure. */
async function assertSizeInStore(client: S3Client, key: BlobKey, size: number | undefined): Promise<void> {
  const stored = await objectSize(client, objectOf(key))
  if (stored === null) throw new BlobMissing(key)
  if (size !== undefined) assertSize(key, stored, size)
}

function wholeSize(status: number, headers: Headers): number | null {
  const [, text] = /^bytes [^/]*\/(\d+)$/.exec(headers.get('Content-Range') ?? '') ?? []
  if (text !== undefined) return wholeNumber(text)
  return status === 200 ? wholeNumber(headers.get('Content-Length')) : null
}

/** Throws S3Failure for a store that ignores ranges, unless the range is the whole object. */
function assertRange(status: number, headers: Headers, start: number, end: number): void {
  const range = headers.get('Content-Range') ?? ''
  const isAll = status === 200 && start === 0 && headers.get('Content-Length') === String(end)
  if (isAll || (status === 206 && range.startsWith(`bytes ${start}-${end - 1}/`))) return
  throw new S3Failure(
    status,
    '',
    `bytes ${start} to ${end - 1} were asked for, ${range === '' ? 'no range' : range} came`,
  )
}

/** Exactly `length` bytes, else StoreFailure. Read on demand. `stall`: timeout for each chunk in milliseconds. */
function s3Chunks(answer: S3Stream, length: number, stall: number): BlobChunks {
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
async function s3Whole(answer: S3Stream, length: number, stall: number): Promise<Uint8Array<ArrayBuffer>> {
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
async function s3Fill(answer: S3Stream, target: Uint8Array, stall: number): Promise<void> {
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

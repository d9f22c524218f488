import { type BlobKey, wholeNumber } from '../domain/ids.ts'
import { assertSize, type BlobChunks, BlobMissing } from './blob-store.ts'
import type { PartMemory } from './part-memory.ts'
import { s3Chunks, s3Fill, s3Whole } from './s3-body.ts'
import type { S3Client, S3Stream } from './s3-client.ts'
import { asS3Failures, S3Failure } from './s3-failure.ts'
import { isNoSuchKey, objectOf, objectSize } from './s3-objects.ts'

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

import type { BlobKey } from '../domain/ids.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import { BlobMissing, type GrowingBlob, type KeptBlob } from './blob-store.ts'
import type { S3Client } from './s3-client.ts'
import { asS3Failures, isTransient, S3Failure, text } from './s3-failure.ts'
import { deleteObject, isNoSuchKey, objectOf, objectSize, putObject, UPLOAD_RETRIES } from './s3-objects.ts'
import { newPart, type PlanPart } from './s3-part.ts'
import { parseProgress, type S3Progress } from './s3-progress.ts'
import { readRangeInto } from './s3-reading.ts'
import { tailOf } from './s3-tails.ts'
import {
  abortMultipartUploads,
  completeMultipartUpload,
  createMultipartUpload,
  isNoSuchUpload,
  type StoredPart,
  storedParts,
  type UnfinishedMultipartUpload,
} from './s3-uploads.ts'

/** Removed as tails are. The ETag tells the copy from one of a dead session's part. */
export function partCopyOf(key: BlobKey, number: number, etag: string): string {
  return tailOf(key, `part-${number}-${etag.toLowerCase().replaceAll(/[^0-9a-z-]/g, '')}`)
}

const COPY_WITHIN = 60_000
const PROBE_BYTES = 512

/** `end` is exclusive. */
interface CopiedRange {
  readonly start: number
  readonly end: number
}

/** Ranges as long as parts, since some stores require equal sizes. A remainder too short for a part joins the last. */
export function rangesToCopy(size: number, planPart: PlanPart): CopiedRange[] {
  const ranges: CopiedRange[] = []
  for (let start = 0; start < size; ) {
    const { size: usual } = planPart(ranges.length + 1)
    const end = size - start < 2 * usual && size - start !== usual ? size : start + usual
    ranges.push({ start, end })
    start = end
  }
  return ranges
}

/** Returns the part's ETag. */
export async function copyPart(
  client: S3Client,
  upload: UnfinishedMultipartUpload,
  number: number,
  { start, end }: CopiedRange,
  signal: AbortSignal,
): Promise<string> {
  const answer = await client.send({
    method: 'PUT',
    object: upload.object,
    query: { partNumber: String(number), uploadId: upload.id },
    headers: {
      'x-amz-copy-source': `/${client.bucket}/${upload.object}`,
      'x-amz-copy-source-range': `bytes=${start}-${end - 1}`,
    },
    signal,
    retries: UPLOAD_RETRIES,
    answerWithin: Math.max(client.timeouts.answer, COPY_WITHIN),
  })
  const etag = text(answer.text, 'ETag')
  if (etag === null) throw new S3Failure(200, '', `the store copied part ${number} and gave no ETag`)
  return etag
}

/** Whether an object can begin with a copy of itself. Throws S3Failure when the store is away. */
export async function canCopyParts(client: S3Client, random: Random): Promise<boolean> {
  const object = objectOf(makeBlobKey(random))
  const part = newPart(PROBE_BYTES)
  part.take(random(PROBE_BYTES))
  const { signal } = new AbortController()
  try {
    await putObject(client, object, part.seal())
    const upload = { object, id: await createMultipartUpload(client, object, signal) }
    const etag = await copyPart(client, upload, 1, { start: 0, end: PROBE_BYTES }, signal)
    await completeMultipartUpload(client, upload, [etag], signal)
    return (await objectSize(client, object)) === PROBE_BYTES
  } catch (error) {
    if (error instanceof S3Failure && !isTransient(error)) return false
    throw error
  } finally {
    await Promise.all([abortMultipartUploads(client, object), deleteObject(client, object)])
  }
}

/** `end` is exclusive. */
interface Source {
  readonly object: string
  readonly start: number
  readonly end: number
}

/** Recorded parts of a multipart upload never change. */
interface KnownParts {
  readonly upload: string
  readonly parts: StoredPart[]
}

/**
 * In the blob's own object (the first bytes after `makeReadable`, all after completion), in part copies, in the tail.
 */
export class GrowingObject implements GrowingBlob {
  readonly #client: S3Client
  readonly #key: BlobKey
  #source: Source | null = null
  #known: KnownParts = { upload: '', parts: [] }

  constructor(client: S3Client, key: BlobKey) {
    this.#client = client
    this.#key = key
  }

  readableFrom(start: number, kept: KeptBlob): Promise<number> {
    return asS3Failures(async () => {
      if (!isIn(this.#source, start)) this.#source = await this.#find(start, kept)
      return this.#source?.end ?? start
    })
  }

  async readInto(start: number, target: Uint8Array): Promise<void> {
    const source = this.#source
    if (source === null || !isIn(source, start)) throw new Error(`byte ${start} was not found`)
    const from = start - source.start
    const range = { start: from, end: from + target.length, size: undefined }
    try {
      await readRangeInto(this.#client, { key: this.#key, object: source.object, ...range }, target)
    } catch (error) {
      // A later tail replaces a tail, and completion removes all copies.
      if (error instanceof BlobMissing) this.#source = null
      throw error
    }
  }

  async close(): Promise<void> {}

  async #find(start: number, kept: KeptBlob): Promise<Source | null> {
    const progress = parseProgress(kept.progress)
    return (
      (await this.#inTail(start, kept.offset, progress)) ??
      (await this.#inCopies(start, progress)) ??
      (await this.#inObject(start, kept.offset))
    )
  }

  async #inTail(start: number, end: number, { tail }: S3Progress): Promise<Source | null> {
    if (tail === null) return null
    const object = tailOf(this.#key, tail)
    const size = await objectSize(this.#client, object)
    const source = { object, start: end - (size ?? 0), end }
    return isIn(source, start) ? source : null
  }

  async #inCopies(start: number, progress: S3Progress): Promise<Source | null> {
    let begin = 0
    for (const [at, { etag, size }] of (await this.#parts(progress)).entries()) {
      const range = { start: begin, end: begin + size }
      begin = range.end
      if (!isIn(range, start)) continue
      const object = partCopyOf(this.#key, at + 1, etag)
      return (await objectSize(this.#client, object)) === size ? { object, ...range } : null
    }
    return null
  }

  async #inObject(start: number, end: number): Promise<Source | null> {
    const object = objectOf(this.#key)
    const size = await objectSize(this.#client, object)
    const source = { object, start: 0, end: Math.min(size ?? 0, end) }
    return isIn(source, start) ? source : null
  }

  /** None of a finished upload, whose object has the parts. */
  async #parts({ upload, parts: count }: S3Progress): Promise<readonly StoredPart[]> {
    if (upload === null) return []
    if (this.#known.upload !== upload) this.#known = { upload, parts: [] }
    const { parts } = this.#known
    if (parts.length >= count) return parts.slice(0, count)
    try {
      const found = storedParts(
        this.#client,
        { object: objectOf(this.#key), id: upload },
        { after: parts.length },
      )
      for await (const part of found) if (parts.push(part) === count) break
    } catch (error) {
      if (!isNoSuchUpload(error) && !isNoSuchKey(error)) throw error
      return []
    }
    return parts
  }
}

function isIn(source: Pick<Source, 'start' | 'end'> | null, position: number): boolean {
  return source !== null && source.start <= position && position < source.end
}

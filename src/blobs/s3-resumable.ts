import type { BlobKey } from '../domain/ids.ts'
import { assertInvariant } from '../domain/invariants.ts'
import { BlobMissing, type KeptBlob, type ResumableWriter } from './blob-store.ts'
import { completedBlob } from './completed-blob.ts'
import { s3Bytes } from './s3-body.ts'
import type { S3Client } from './s3-client.ts'
import { asS3Failures } from './s3-failure.ts'
import { isNoSuchKey, objectOf, objectSize } from './s3-objects.ts'
import { newPart, type PlanPart, planOf, type S3Part } from './s3-part.ts'
import { rangesToCopy } from './s3-partial-reads/part-copies.ts'
import type { Written } from './s3-parts.ts'
import { parseProgress, printOf, type S3Progress } from './s3-progress.ts'
import { removeUnfinishedParts, S3Session, type S3SessionParts } from './s3-session.ts'
import { sizeOf } from './s3-stored-parts.ts'
import { tailOf } from './s3-tails.ts'
import { isNoSuchUpload, type StoredPart, storedParts, type UnfinishedMultipartUpload } from './s3-uploads.ts'

export function resumeOnS3(
  parts: S3SessionParts,
  key: BlobKey,
  kept: KeptBlob | null,
): Promise<ResumableWriter> {
  const { client } = parts
  return asS3Failures(async () => {
    if (kept === null) return new S3Session(parts, key, null)
    const progress = progressOf(key, kept)
    const completed = () => completedBlob(kept, () => asS3Failures(() => removeUnfinishedParts(client, key)))
    try {
      const found = await writtenBefore(parts, key, kept.offset, progress)
      if (found === null) return completed()
      const { written, planPart } = found
      return new S3Session({ ...parts, planPart }, key, { kept, progress, written })
    } catch (error) {
      if (!isNoSuchKey(error)) throw error
      // The blob may have been completed already: the object's size tells.
      const size = await objectSize(client, objectOf(key))
      if (size !== kept.offset) throw new BlobMissing(key, { cause: error })
      return completed()
    }
  })
}

interface Found {
  readonly written: Written
  readonly planPart: PlanPart
}

/** Null when the blob is complete. Throws S3Failure, also `NoSuchKey`. */
async function writtenBefore(
  sessionParts: S3SessionParts,
  key: BlobKey,
  offset: number,
  progress: S3Progress,
): Promise<Found | null> {
  const { client } = sessionParts
  const upload = progress.upload === null ? null : { object: objectOf(key), id: progress.upload }
  const parts = upload === null ? [] : await partsOf(client, upload, progress.parts)
  if (parts === null) return joinedBefore(sessionParts, key, offset, progress)
  const left = offset - sizeOf(parts)
  const planPart = planLike(sessionParts.planPart, parts)
  const { size } = planPart(parts.length + 1)
  if (upload === null && left >= size) return joinedBefore(sessionParts, key, offset, progress)
  if (parts.length === progress.parts && left >= 0 && left < size) {
    const tail =
      progress.tail === null ? null : await readTail(client, tailOf(key, progress.tail), left, size)
    const print = printOf(parts, tail?.seal().md5 ?? null)
    if (print === progress.print) return assertWhole({ prefix: 0, upload, parts, tail }, offset, planPart)
  }
  const cause = new Error(`the store has other parts than the ${progress.parts} that were kept`)
  throw new BlobMissing(key, { cause })
}

async function partsOf(
  client: S3Client,
  upload: UnfinishedMultipartUpload,
  kept: number,
): Promise<StoredPart[] | null> {
  const parts: StoredPart[] = []
  try {
    for await (const part of storedParts(client, upload)) if (parts.push(part) === kept) break
  } catch (error) {
    if (!isNoSuchUpload(error) && !isNoSuchKey(error)) throw error
    return null
  }
  return parts
}

/** For parts joined by an earlier session. Null when the blob is complete. */
async function joinedBefore(
  { client, planPart }: S3SessionParts,
  key: BlobKey,
  offset: number,
  { tail: name }: S3Progress,
): Promise<Found | null> {
  const prefix = await objectSize(client, objectOf(key))
  if (prefix === null || prefix > offset) {
    const cause = new Error(`the object has ${prefix ?? 'no'} bytes, ${offset} were kept`)
    throw new BlobMissing(key, { cause })
  }
  const left = offset - prefix
  if (left === 0) {
    return name === null ? { written: { prefix, upload: null, parts: [], tail: null }, planPart } : null
  }
  const object = name === null ? null : tailOf(key, name)
  if (object === null || (await objectSize(client, object)) !== left) {
    throw new BlobMissing(key, { cause: new Error(`the object has ${prefix} bytes, and no tail of ${left}`) })
  }
  const { size } = planPart(rangesToCopy(prefix, planPart).length + 1)
  // Parts of a longer blob are longer, and so are their tails.
  const tail = await readTail(client, object, left, Math.max(left, size))
  return { written: { prefix, upload: null, parts: [], tail }, planPart }
}

/** An earlier session may have planned with other settings. */
function planLike(planned: PlanPart, [first]: readonly StoredPart[]): PlanPart {
  return first === undefined || first.size === planned(1).size ? planned : planOf(first.size)
}

function assertWhole(written: Written, offset: number, planPart: PlanPart): Found {
  const found = written.prefix + sizeOf(written.parts) + (written.tail?.filled ?? 0)
  assertInvariant('offset-is-sum-of-appends', found === offset, () => `${found} found, ${offset} kept`)
  return { written, planPart }
}

function readTail(client: S3Client, object: string, length: number, size: number): Promise<S3Part> {
  return client.open({ method: 'GET', object }, async (answer) => {
    const part = newPart(size)
    part.take(await s3Bytes(answer, length, client.timeouts.stall))
    return part
  })
}

function progressOf(key: BlobKey, { progress }: KeptBlob): S3Progress {
  try {
    return parseProgress(progress)
  } catch (error) {
    throw new BlobMissing(key, { cause: error })
  }
}

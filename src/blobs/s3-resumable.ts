import * as z from 'zod'
import type { BlobKey, BlobProgress } from '../domain/ids.ts'
import { assertInvariant } from '../domain/invariants.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import { assertAllKept, completedBlob } from './adapters.ts'
import { BlobMissing, type GrowingBlob, type KeptBlob, type ResumableWriter } from './blob-store.ts'
import type { S3Client } from './s3-client.ts'
import { asS3Failures, asS3WriteFailures, isTransient, S3Failure } from './s3-failure.ts'
import {
  deleteObject,
  dropTails,
  isNoSuchKey,
  objectOf,
  objectSize,
  partCopyOf,
  putObject,
  tailOf,
  UPLOAD_RETRIES,
} from './s3-objects.ts'
import { readRangeInto, s3Bytes } from './s3-reading.ts'
import {
  abortMultipartUploads,
  completeMultipartUpload,
  copyPart,
  createMultipartUpload,
  isInvalidPart,
  isNoSuchUpload,
  newPart,
  ObjectParts,
  type PartMemory,
  type PlanPart,
  planOf,
  rangesToCopy,
  type S3Part,
  type StoredPart,
  sizeOf,
  storedParts,
  type UnfinishedMultipartUpload,
  type Written,
} from './s3-uploads.ts'

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

interface S3SessionParts {
  readonly client: S3Client
  readonly memory: PartMemory
  readonly random: Random
  readonly planPart: PlanPart
  /** Assumed true when left out. */
  readonly canShow?: () => Promise<boolean>
}

interface KeptState {
  readonly kept: KeptBlob
  readonly progress: S3Progress
  readonly written: Written
}

/** Bytes short of a part become an object, the tail, with a new name each time: recorded ones are never overwritten. */
class S3Session implements ResumableWriter {
  readonly #client: S3Client
  readonly #random: Random
  readonly #canMakeReadable: () => Promise<boolean>
  readonly #key: BlobKey
  readonly #parts: ObjectParts
  #kept: KeptBlob | null
  #tail: string | null
  /** Needed until the last `keep` is recorded. */
  #tailBefore: string | null
  #unwanted: string[] = []

  constructor(parts: S3SessionParts, key: BlobKey, before: KeptState | null) {
    const { client, memory, planPart, canShow = async () => true } = parts
    this.#client = client
    this.#random = parts.random
    this.#canMakeReadable = canShow
    this.#key = key
    const object = objectOf(key)
    const copyOf = (number: number, etag: string) => partCopyOf(key, number, etag)
    this.#parts = new ObjectParts({ client, object, memory, planPart, before: before?.written, copyOf })
    this.#kept = before?.kept ?? null
    this.#tail = before?.progress.tail ?? null
    this.#tailBefore = before?.progress.tailBefore ?? null
  }

  write(chunk: Uint8Array): Promise<void> {
    return asS3WriteFailures(() => this.#parts.write(chunk))
  }

  keep(): Promise<KeptBlob> {
    return asS3WriteFailures(async () => {
      this.#parts.signal.throwIfAborted()
      this.#discardTailBefore()
      const { total } = this.#parts
      if (this.#kept?.offset === total) return this.#kept
      await this.#parts.settle()
      const { written } = this.#parts
      const [name] = await Promise.all([
        written.tail === null ? null : this.#putTail(written.tail),
        this.#deleteUnwanted(),
      ])
      const kept = this.#keep(written, name)
      assertInvariant('kept-is-written', kept.offset === total, () => `${kept.offset} kept, ${total} written`)
      return kept
    })
  }

  safe(): KeptBlob | null {
    const { prefix, upload, parts } = this.#parts.written
    if (prefix + sizeOf(parts) <= (this.#kept?.offset ?? 0)) return null
    this.#discardTailBefore()
    return this.#keep({ prefix, upload, parts, tail: null }, null)
  }

  makeReadable(): Promise<void> {
    return asS3Failures(async () => {
      const [kept, written] = [this.#kept?.offset ?? 0, this.#parts.total]
      assertInvariant('kept-is-written', kept === written, () => `${kept} kept, ${written} written`)
      if (await this.#canMakeReadable()) await this.#joining(() => this.#parts.makeReadable())
    })
  }

  complete(): Promise<number> {
    return asS3WriteFailures(async () => {
      assertAllKept(this.#kept, this.#parts.total)
      await this.#joining(() => this.#parts.finish())
      if (this.#kept !== null) await removeUnfinishedParts(this.#client, this.#key)
      return this.#parts.total
    })
  }

  close(): Promise<void> {
    return this.#parts.halt(new Error('the session was closed'))
  }

  async #joining(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      // A killed session has overwritten or added a part, which not every store ignores.
      throw isInvalidPart(error) ? new BlobMissing(this.#key, { cause: error }) : error
    }
  }

  /** Call once the last kept bytes are recorded. */
  #discardTailBefore(): void {
    if (this.#tailBefore !== null) this.#unwanted.push(this.#tailBefore)
    this.#tailBefore = null
  }

  /** Never throws: completion or removal of the blob deletes the rest. */
  async #deleteUnwanted(): Promise<void> {
    const names = this.#unwanted
    this.#unwanted = []
    const remove = (name: string) => deleteObject(this.#client, tailOf(this.#key, name)).catch(() => {})
    await Promise.all(names.map(remove))
  }

  async #putTail(tail: S3Part): Promise<string> {
    const name = Buffer.from(this.#random(8)).toString('hex')
    const options = { signal: this.#parts.signal, retries: UPLOAD_RETRIES }
    await putObject(this.#client, tailOf(this.#key, name), tail.seal(), options)
    return name
  }

  #keep({ prefix, upload, parts, tail }: Written, name: string | null): KeptBlob {
    this.#tailBefore = this.#tail
    this.#tail = name
    const progress = progressText({
      upload: upload?.id ?? null,
      parts: parts.length,
      tail: this.#tail,
      tailBefore: this.#tailBefore,
      print: printOf(parts, tail?.seal().md5 ?? null),
    })
    this.#kept = { offset: prefix + sizeOf(parts) + (tail?.filled ?? 0), progress }
    return this.#kept
  }
}

async function removeUnfinishedParts(client: S3Client, key: BlobKey): Promise<void> {
  await Promise.all([abortMultipartUploads(client, objectOf(key)), dropTails(client, key)])
}

/** Of constant size: the store lists the parts. */
interface S3Progress {
  readonly upload: string | null
  readonly parts: number
  readonly tail: string | null
  /** Obsolete once this state is recorded. */
  readonly tailBefore: string | null
  /** Detects changed parts or tail. */
  readonly print: string
}

const shape = z.strictObject({
  upload: z.string().nullable(),
  parts: z.int().nonnegative(),
  tail: z.string().nullable(),
  tailBefore: z.string().nullable(),
  print: z.string(),
})

function progressText(progress: S3Progress): BlobProgress {
  return JSON.stringify(progress) as BlobProgress
}

/** Throws Error for any other text. */
export function parseProgress(text: BlobProgress): S3Progress {
  return shape.parse(JSON.parse(text))
}

function printOf(parts: readonly StoredPart[], tail: Buffer | null): string {
  const hash = new Bun.CryptoHasher('sha256')
  // Some stores send an ETag with quotation marks in one answer and without them in another.
  for (const { etag } of parts) hash.update(`${etag.replaceAll('"', '').toLowerCase()}\n`)
  return hash.update(tail ?? '').digest('hex')
}

const PROBE_BYTES = 512

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

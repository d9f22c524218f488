import type { BlobKey } from '../domain/ids.ts'
import { assertInvariant } from '../domain/invariants.ts'
import type { Random } from '../domain/random.ts'
import { BlobMissing, type KeptBlob, type ResumableWriter } from './blob-store.ts'
import { completedBlob } from './completed-blob.ts'
import type { PartMemory } from './part-memory.ts'
import { assertAllKept } from './removal.ts'
import { s3Bytes } from './s3-body.ts'
import type { S3Client } from './s3-client.ts'
import { asS3Failures, asS3WriteFailures } from './s3-failure.ts'
import { deleteObject, isNoSuchKey, objectOf, objectSize, putObject, UPLOAD_RETRIES } from './s3-objects.ts'
import { newPart, type PlanPart, planOf, type S3Part } from './s3-part.ts'
import { partCopyOf, rangesToCopy } from './s3-partial-reads.ts'
import { ObjectParts, type Written } from './s3-parts.ts'
import { parseProgress, printOf, progressText, type S3Progress } from './s3-progress.ts'
import { sizeOf } from './s3-stored-parts.ts'
import { dropTails, tailOf } from './s3-tails.ts'
import {
  abortMultipartUploads,
  isInvalidPart,
  isNoSuchUpload,
  type StoredPart,
  storedParts,
  type UnfinishedMultipartUpload,
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

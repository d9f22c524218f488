import type { BlobKey, Sha256 } from '../domain/ids.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import type {
  BlobChunks,
  BlobStore,
  BlobWriter,
  GrowingBlob,
  KeptBlob,
  LinkOptions,
  ListedBlob,
  MarkCopy,
  ResumableWriter,
} from './blob-store.ts'
import { type Pacing, type StoreRetryPolicy, systemPacing } from './retries.ts'
import {
  type S3Client,
  type S3Settings,
  type S3Timeouts,
  type S3Watch,
  s3Client,
  usualTimeouts,
} from './s3-client.ts'
import { asS3Failures, asS3WriteFailures, isAboutBytes, S3Failure } from './s3-failure.ts'
import {
  assertBucket,
  BLOBS,
  deleteObject,
  isNoSuchKey,
  keyOf,
  keyOfTail,
  objectOf,
  objectSize,
  objectsUnder,
  putHashed,
  putObject,
  type SealedPart,
  TAILS,
  UPLOAD_RETRIES,
} from './s3-objects.ts'
import { readChunks, s3Bytes } from './s3-reading.ts'
import { abortForgotten, removeBlob, removeBlobs } from './s3-removal.ts'
import { canCopyParts, GrowingObject, resumeOnS3 } from './s3-resumable.ts'
import {
  abortMultipartUpload,
  abortMultipartUploads,
  completeMultipartUpload,
  createMultipartUpload,
  LARGEST_BLOB,
  newPart,
  ObjectParts,
  type ObjectPartsOptions,
  type PlanPart,
  partMemory,
  planFor,
  type UnfinishedMultipartUpload,
  unfinishedUploads,
  uploadPart,
} from './s3-uploads.ts'

/** Bytes that the parts of all uploads may take beyond one part for each upload. */
const SHARED_MEMORY = 192 * 1024 * 1024

/** Bytes of whole reads, beyond the ranges that are always read whole. */
const READ_MEMORY = 32 * 1024 * 1024

const PROBE_BYTES = 512
/** Health checks must be answered soon. */
const PROBE_RETRIES: StoreRetryPolicy = { tries: 2, giveUpAfter: 1000 }
const PROBE_ANSWER = 5000

export interface S3Options {
  readonly watch?: S3Watch
  /** Waits longer for a stalled store, for background work. */
  readonly isPatient?: boolean
  /** Limit in bytes for blobs of unknown size; 10 GiB where left out. */
  readonly largest?: number
  readonly pacing?: Pacing
  readonly timeouts?: S3Timeouts
}

/**
 * Objects: `blobs/<first two characters>/<key>`, `tails/<first two characters>/<key>/<name>` and `mark`. Creates a
 * missing bucket. Throws StoreUnusable, with advice for the operator.
 */
export async function openS3Blobs(
  settings: S3Settings,
  random: Random,
  {
    pacing = systemPacing(random),
    timeouts = usualTimeouts,
    watch,
    isPatient,
    largest = LARGEST_BLOB,
  }: S3Options = {},
): Promise<BlobStore> {
  const client = s3Client(settings, pacing, timeouts, watch, isPatient)
  await assertBucket(client, settings)
  return new S3Blobs(client, random, largest)
}

/** Whether the store refuses a mismatch of SHA-256 and MD5, or reveals it by the ETag. Throws S3Failure when unsure. */
export async function noticesOtherBytes(settings: S3Settings, random: Random): Promise<boolean> {
  const client = s3Client(settings, systemPacing(random), usualTimeouts, undefined)
  const object = objectOf(makeBlobKey(random))
  const [sent, announced] = [sealed(random(PROBE_BYTES)), sealed(random(PROBE_BYTES))]
  const sha256 = Bun.SHA256.hash(announced.bytes, 'hex') as Sha256
  const once = { retries: { tries: 1, giveUpAfter: 0 }, answerWithin: PROBE_ANSWER }
  try {
    return (
      (await isNoticed(() => putObject(client, object, { bytes: sent.bytes, md5: announced.md5 }, once))) &&
      (await isNoticed(() => putHashed(client, object, sent.bytes, sha256, once)))
    )
  } finally {
    await client.send({ method: 'DELETE', object, ...once })
  }
}

/** S3's limit, except for the last part. */
const LEAST_PART = 5 * 1024 * 1024

/** Makes and removes an object of two parts. Throws S3Failure with the store's own words. */
export async function tryJoin(settings: S3Settings, random: Random): Promise<void> {
  const client = s3Client(settings, systemPacing(random), usualTimeouts, undefined)
  const object = objectOf(makeBlobKey(random))
  const { signal } = new AbortController()
  const parts = [sealed(new Uint8Array(LEAST_PART)), sealed(random(PROBE_BYTES))]
  try {
    const upload = { object, id: await createMultipartUpload(client, object, signal) }
    const etags: string[] = []
    for (const [at, part] of parts.entries()) {
      etags.push(await uploadPart(client, upload, at + 1, part, signal))
    }
    await completeMultipartUpload(client, upload, etags, signal)
  } finally {
    await Promise.allSettled([abortMultipartUploads(client, object), deleteObject(client, object)])
  }
}

async function isNoticed(put: () => Promise<void>): Promise<boolean> {
  try {
    await put()
    return false
  } catch (error) {
    if (error instanceof S3Failure && isAboutBytes(error)) return true
    throw error
  }
}

class S3Blobs implements BlobStore {
  readonly dropsUnfinished = false
  readonly readsGrowing = false
  readonly #client: S3Client
  readonly #random: Random
  readonly #largest: number
  readonly #memory = partMemory(SHARED_MEMORY)
  readonly #readMemory = partMemory(READ_MEMORY)
  #copies: Promise<boolean> | null = null

  constructor(client: S3Client, random: Random, largest: number) {
    this.#client = client
    this.#random = random
    this.#largest = largest
  }

  async create(key: BlobKey, length: number | null = null): Promise<BlobWriter> {
    const planPart = this.#planPart(length)
    return new S3Writer({ client: this.#client, object: objectOf(key), memory: this.#memory, planPart })
  }

  put(key: BlobKey, bytes: Uint8Array<ArrayBuffer>, sha256: Sha256): Promise<void> {
    const options = { retries: UPLOAD_RETRIES }
    return asS3WriteFailures(() => putHashed(this.#client, objectOf(key), bytes, sha256, options))
  }

  resume(key: BlobKey, kept: KeptBlob | null, length: number | null = null): Promise<ResumableWriter> {
    const planPart = this.#planPart(length)
    const parts = { client: this.#client, memory: this.#memory, random: this.#random, planPart }
    return resumeOnS3({ ...parts, canShow: () => this.#canMakeReadable() }, key, kept)
  }

  read(key: BlobKey, start: number, end: number, size?: number): Promise<BlobChunks> {
    return readChunks(this.#client, { key, start, end, size }, this.#readMemory)
  }

  async openGrowing(key: BlobKey): Promise<GrowingBlob> {
    return new GrowingObject(this.#client, key)
  }

  size(key: BlobKey): Promise<number | null> {
    return asS3Failures(() => objectSize(this.#client, objectOf(key)))
  }

  remove(key: BlobKey): Promise<void> {
    return asS3Failures(() => removeBlob(this.#client, key))
  }

  removeAll(keys: readonly BlobKey[], failed: (error: unknown) => void): Promise<BlobKey[]> {
    return removeBlobs(this.#client, keys, failed)
  }

  endForgotten(before: number, isUnderWay: (key: BlobKey) => Promise<boolean>): Promise<void> {
    return asS3Failures(() => abortForgotten(this.#client, before, isUnderWay))
  }

  #planPart(length: number | null): PlanPart {
    return planFor(length ?? this.#largest)
  }

  #canMakeReadable(): Promise<boolean> {
    this.#copies ??= canCopyParts(this.#client, this.#random).catch((error: unknown) => {
      this.#copies = null
      throw error
    })
    return this.#copies
  }

  async *list(): AsyncIterable<ListedBlob> {
    // Unfinished blobs first: one completed meanwhile is then listed twice instead of never.
    const unfinished = [
      [unfinishedUploads(this.#client, BLOBS), keyOf],
      [objectsUnder(this.#client, TAILS), keyOfTail],
    ] as const
    for (const [objects, keyOfObject] of unfinished) {
      for await (const { object } of named<{ readonly object: string }>(objects)) {
        const key = keyOfObject(object)
        if (key !== null) yield { key, size: null, storedAt: null }
      }
    }
    for await (const { object, ...found } of named(objectsUnder(this.#client, BLOBS))) {
      const key = keyOf(object)
      if (key !== null) yield { key, ...found }
    }
  }

  async freeSpace(): Promise<null> {
    return null
  }

  async probe(): Promise<void> {
    const object = objectOf(makeBlobKey(this.#random))
    const content = sealed(this.#random(PROBE_BYTES))
    const answerWithin = Math.min(PROBE_ANSWER, this.#client.timeouts.answer)
    const options = { retries: PROBE_RETRIES, answerWithin }
    await asS3Failures(async () => {
      await putObject(this.#client, object, content, options)
      const back = await this.#client.open({ method: 'GET', object, ...options }, (answer) =>
        s3Bytes(answer, content.bytes.byteLength, answerWithin),
      )
      if (!Buffer.from(back).equals(content.bytes)) {
        throw new S3Failure(200, '', 'the probe came back changed')
      }
      await this.#client.send({ method: 'DELETE', object, ...options })
    })
  }

  readMark(copy: MarkCopy = 'mark'): Promise<string | null> {
    return asS3Failures(async () => {
      try {
        return (await this.#client.send({ method: 'GET', object: copy })).text
      } catch (error) {
        if (isNoSuchKey(error)) return null
        throw error
      }
    })
  }

  writeMark(mark: string, copy: MarkCopy = 'mark'): Promise<void> {
    return asS3Failures(() => putObject(this.#client, copy, sealed(new TextEncoder().encode(mark))))
  }

  link(key: BlobKey, { seconds, type, disposition }: LinkOptions): Promise<string> {
    return this.#client.presign(
      objectOf(key),
      {
        'response-content-type': type,
        'response-content-disposition': disposition,
        'response-cache-control': 'private',
      },
      seconds,
    )
  }
}

/** Throws StoreFailure. */
async function* named<T>(objects: AsyncIterable<T>): AsyncGenerator<T> {
  const names = objects[Symbol.asyncIterator]()
  for (;;) {
    const { done, value } = await asS3Failures(() => names.next())
    if (done) return
    yield value
  }
}

function sealed(bytes: Uint8Array): SealedPart {
  const part = newPart(bytes.byteLength)
  part.take(bytes)
  return part.seal()
}

export class S3Writer implements BlobWriter {
  readonly #options: ObjectPartsOptions
  readonly #parts: ObjectParts
  #mayExist = false

  constructor(options: ObjectPartsOptions) {
    this.#options = options
    this.#parts = new ObjectParts(options)
  }

  write(chunk: Uint8Array): Promise<void> {
    return asS3WriteFailures(() => this.#parts.write(chunk))
  }

  async complete(recorded?: Promise<void>): Promise<number> {
    await recorded
    this.#mayExist = true
    return asS3WriteFailures(async () => {
      await this.#parts.finish()
      return this.#parts.total
    })
  }

  abort(): Promise<void> {
    const { client, object } = this.#options
    return asS3Failures(async () => {
      await this.#parts.halt(new Error('the upload was aborted'))
      if (this.#parts.upload !== null) await this.#abortUpload(this.#parts.upload)
      if (this.#mayExist) await deleteObject(client, object)
    })
  }

  /** An upload without a known id may exist: the answer with the id may have been lost. */
  async #abortUpload(upload: Promise<UnfinishedMultipartUpload>): Promise<void> {
    const { client, object } = this.#options
    const begun = await upload.catch(() => null)
    if (begun === null) await abortMultipartUploads(client, object)
    else await abortMultipartUpload(client, begun)
  }
}

import { wholeNumber } from '../domain/ids.ts'
import { assertInvariant } from '../domain/invariants.ts'
import type { S3Client } from './s3-client.ts'
import { elements, encode, S3Failure, text } from './s3-failure.ts'
import { assertSame, objectSize, putObject, type SealedPart, UPLOAD_RETRIES } from './s3-objects.ts'

export interface UnfinishedMultipartUpload {
  readonly object: string
  readonly id: string
}

interface ListedMultipartUpload extends UnfinishedMultipartUpload {
  /** Milliseconds since the epoch; null where the store does not tell. */
  readonly begunAt: number | null
}

export interface StoredPart {
  /** As the store sends it, with quotation marks. */
  readonly etag: string
  readonly size: number
}

/** Joining many parts takes time, and most stores answer only then. */
const JOIN_WITHIN = 60_000

export async function createMultipartUpload(
  client: S3Client,
  object: string,
  signal: AbortSignal,
): Promise<string> {
  const answer = await client.send({
    method: 'POST',
    object,
    query: { uploads: '' },
    signal,
    retries: UPLOAD_RETRIES,
  })
  const id = text(answer.text, 'UploadId')
  if (id === null) throw new S3Failure(200, '', `the store began an upload of ${object} and named no id`)
  return id
}

/** Returns the part's ETag, needed for joining. Parts are numbered from 1. */
export async function uploadPart(
  client: S3Client,
  upload: UnfinishedMultipartUpload,
  number: number,
  { bytes, md5 }: SealedPart,
  signal: AbortSignal,
): Promise<string> {
  const { headers } = await client.send({
    method: 'PUT',
    object: upload.object,
    query: { partNumber: String(number), uploadId: upload.id },
    headers: { 'Content-MD5': md5.toString('base64') },
    body: bytes,
    signal,
    retries: UPLOAD_RETRIES,
    answerWithin: client.timeouts.stall,
  })
  assertSame(headers, md5)
  const etag = headers.get('ETag')
  if (etag === null) throw new S3Failure(200, '', `the store took part ${number} and gave no ETag`)
  return etag
}

/** Up to the first gap. Throws S3Failure `NoSuchUpload`; Ceph says `NoSuchKey`. `page`: parts per request. */
export async function* storedParts(
  client: S3Client,
  { object, id }: UnfinishedMultipartUpload,
  { page = 1000, after = 0 }: { readonly page?: number; readonly after?: number } = {},
): AsyncIterable<StoredPart> {
  let last = after
  for (;;) {
    const query = { uploadId: id, 'max-parts': String(page), 'part-number-marker': String(last) }
    const answer = await client.send({ method: 'GET', object, query })
    const before = last
    for (const part of elements(answer.text, 'Part')) {
      const etag = text(part, 'ETag')
      const size = wholeNumber(text(part, 'Size'))
      if (wholeNumber(text(part, 'PartNumber')) !== last + 1 || etag === null || size === null) return
      last++
      yield { etag, size }
    }
    if (text(answer.text, 'IsTruncated') !== 'true' || last === before) return
  }
}

/** ETags in order. Throws S3Failure `NoSuchUpload`, also when an earlier try, whose answer was lost, has succeeded. */
export async function completeMultipartUpload(
  client: S3Client,
  upload: UnfinishedMultipartUpload,
  etags: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const parts = etags.map(
    (etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${encode(etag)}</ETag></Part>`,
  )
  await client.send({
    method: 'POST',
    object: upload.object,
    query: { uploadId: upload.id },
    headers: { 'Content-Type': 'application/xml' },
    body: new TextEncoder().encode(
      `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`,
    ),
    signal,
    retries: UPLOAD_RETRIES,
    answerWithin: Math.max(client.timeouts.answer, JOIN_WITHIN),
  })
}

const COPY_WITHIN = 60_000

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

/** Deletes its parts. Succeeds when there is no such upload. */
export async function abortMultipartUpload(
  client: S3Client,
  { object, id }: UnfinishedMultipartUpload,
): Promise<void> {
  try {
    await client.send({ method: 'DELETE', object, query: { uploadId: id } })
  } catch (error) {
    if (!isNoSuchUpload(error)) throw error
  }
}

export async function abortMultipartUploads(client: S3Client, object: string): Promise<void> {
  for await (const upload of unfinishedUploads(client, object)) {
    if (upload.object === object) await abortMultipartUpload(client, upload)
  }
}

export async function* unfinishedUploads(
  client: S3Client,
  prefix: string,
): AsyncIterable<ListedMultipartUpload> {
  let from: Record<string, string> = {}
  for (;;) {
    const answer = await client.send({ method: 'GET', query: { uploads: '', prefix, ...from } })
    for (const upload of elements(answer.text, 'Upload')) {
      const object = text(upload, 'Key')
      const id = text(upload, 'UploadId')
      const begunAt = Date.parse(text(upload, 'Initiated') ?? '')
      if (object !== null && id !== null)
        yield { object, id, begunAt: Number.isNaN(begunAt) ? null : begunAt }
    }
    const key = text(answer.text, 'NextKeyMarker')
    const id = text(answer.text, 'NextUploadIdMarker')
    if (text(answer.text, 'IsTruncated') !== 'true' || key === null) return
    from = { 'key-marker': key, ...(id === null ? {} : { 'upload-id-marker': id }) }
  }
}

export function isInvalidPart(error: unknown): boolean {
  return error instanceof S3Failure && error.code === 'InvalidPart'
}

export function isNoSuchUpload(error: unknown): boolean {
  return error instanceof S3Failure && error.code === 'NoSuchUpload'
}

export interface Written {
  /** Bytes taken from the existing object; 0 once an upload has them copied into its first parts. */
  readonly prefix: number
  readonly upload: UnfinishedMultipartUpload | null
  /** Without a gap, from the first part on. */
  readonly parts: readonly StoredPart[]
  readonly tail: S3Part | null
}

const NOTHING: Written = { prefix: 0, upload: null, parts: [], tail: null }

export interface ObjectPartsOptions {
  readonly client: S3Client
  readonly object: string
  readonly memory: PartMemory
  readonly planPart: PlanPart
  /** The earlier writer's tail is taken over. */
  readonly before?: Written | undefined
  readonly copyOf?: (number: number, etag: string) => string
}

const COPIES_AT_ONCE = 4

/** Sends several parts at a time. Parts stay in memory until stored, for retries. Throws S3Failure. */
export class ObjectParts {
  readonly #client: S3Client
  readonly #object: string
  readonly #planPart: PlanPart
  readonly #memory: OwnMemory
  readonly #cancel = new AbortController()
  readonly #sending = new Set<Promise<void>>()
  readonly #copyOf: ObjectPartsOptions['copyOf']
  #stored: StoredParts
  #prefix: number
  /** Copies the prefix; never rejects. */
  #copying = Promise.resolve()
  /** Whether each part also has a readable copy. */
  #isReadable = false
  #begun: UnfinishedMultipartUpload | null
  #upload: Promise<UnfinishedMultipartUpload> | null
  #filling: S3Part | null
  #sent: number
  #total: number
  #failure: { readonly error: unknown } | null = null
  /** Settled when all writes so far are done; never rejects. */
  #queue = Promise.resolve()

  constructor(options: ObjectPartsOptions) {
    const { client, object, memory, planPart, before = NOTHING, copyOf } = options
    this.#client = client
    this.#object = object
    this.#planPart = planPart
    this.#memory = ownMemory(memory)
    this.#copyOf = copyOf
    this.#stored = new StoredParts(before.parts)
    this.#prefix = before.prefix
    this.#begun = before.upload
    this.#upload = before.upload === null ? null : Promise.resolve(before.upload)
    this.#filling = before.tail
    this.#sent = before.parts.length + rangesToCopy(before.prefix, planPart).length
    this.#total = before.prefix + sizeOf(before.parts) + (before.tail?.filled ?? 0)
    if (before.tail !== null) this.#memory.take(before.tail.size, true)
  }

  get total(): number {
    return this.#total
  }

  /** Set as soon as there is a part; rejects when the store did not create it. */
  get upload(): Promise<UnfinishedMultipartUpload> | null {
    return this.#upload
  }

  /** Aborted by `halt`, and by the first part that fails. */
  get signal(): AbortSignal {
    return this.#cancel.signal
  }

  /** The tail is valid until the next write. */
  get written(): Written {
    const prefix = this.#upload === null ? this.#prefix : 0
    return { prefix, upload: this.#begun, parts: this.#stored.leading(), tail: this.#filling }
  }

  write(chunk: Uint8Array): Promise<void> {
    const work = this.#queue.then(() => this.#take(chunk))
    this.#queue = work.catch(() => {})
    return work
  }

  /** Returns once the store has every full part. */
  async settle(): Promise<void> {
    await Promise.all([...this.#sending, this.#copying])
    this.#assertGoing()
  }

  /** Joins stored parts, copies later ones. All bytes must be recorded: the upload's parts are gone after this. */
  async makeReadable(): Promise<void> {
    await this.settle()
    const { upload, parts } = this.written
    if (upload !== null && !(await this.#wasMadeReadable(parts))) {
      this.#prefix = await this.#join(upload, parts)
      this.#upload = null
      this.#begun = null
      this.#stored = new StoredParts([])
      this.#sent = rangesToCopy(this.#prefix, this.#planPart).length
    }
    this.#isReadable = true
  }

  /** Whether an earlier writer has made the parts readable, which is all or none. */
  async #wasMadeReadable([first]: readonly StoredPart[]): Promise<boolean> {
    if ((await objectSize(this.#client, this.#object)) !== null) return true
    const copy = first === undefined ? undefined : this.#copyOf?.(1, first.etag)
    return copy !== undefined && (await objectSize(this.#client, copy)) !== null
  }

  async finish(): Promise<void> {
    this.#assertGoing()
    const last = this.#filling
    this.#filling = null
    if (this.#upload === null) {
      if (this.#prefix === 0) return this.#putWhole(last)
      // The present object is whole.
      if (last === null) return
    }
    this.#isReadable = false
    if (last !== null) this.#send(last)
    await this.settle()
    await this.#join(await this.#started(), this.#stored.all(this.#sent, this.#total))
  }

  /** Fails pending requests with the reason, and frees all memory. Never throws. */
  async halt(reason: Error): Promise<void> {
    this.#fail(reason)
    await Promise.all([...this.#sending, this.#copying])
    if (this.#filling !== null) this.#release(this.#filling)
    this.#filling = null
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.#cancel.abort(error)
  }

  #assertGoing(): void {
    if (this.#failure !== null) throw this.#failure.error
  }

  async #take(chunk: Uint8Array): Promise<void> {
    this.#assertGoing()
    for (let at = 0; at < chunk.byteLength; ) {
      this.#filling ??= await this.#nextPart()
      const taken = this.#filling.take(chunk.subarray(at))
      at += taken
      this.#total += taken
      if (!this.#filling.isFull) continue
      this.#send(this.#filling)
      this.#filling = null
    }
  }

  /** One part is always granted; more only while all uploads together stay within their limit. */
  async #nextPart(): Promise<S3Part> {
    const number = this.#sent + 1
    if (number > MOST_PARTS)
      throw new S3Failure(400, 'EntityTooLarge', 'the blob needs more parts than S3 takes')
    const plan = this.#planPart(number)
    while (this.#sending.size >= plan.held || !this.#memory.take(plan.size, this.#sending.size === 0)) {
      await Promise.race(this.#sending)
      this.#assertGoing()
    }
    return newPart(plan.size)
  }

  #release(part: S3Part): void {
    part.free()
    this.#memory.give(part.size)
  }

  #send(part: S3Part): void {
    this.#sent += 1
    const settled = this.#store(part, this.#sent, this.#started())
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#sending.delete(settled)
        this.#release(part)
      })
    this.#sending.add(settled)
  }

  #started(): Promise<UnfinishedMultipartUpload> {
    if (this.#upload === null) {
      this.#upload = this.#begin()
      this.#copying = this.#copyPrefix(this.#upload).catch((error: unknown) => this.#fail(error))
    }
    return this.#upload
  }

  async #copyPrefix(begun: Promise<UnfinishedMultipartUpload>): Promise<void> {
    const upload = await begun
    const ranges = rangesToCopy(this.#prefix, this.#planPart).entries()
    const copyOn = async () => {
      for (const [at, range] of ranges) {
        const etag = await copyPart(this.#client, upload, at + 1, range, this.signal)
        this.#stored.add(at + 1, { etag, size: range.end - range.start })
      }
    }
    await Promise.all(Array.from({ length: COPIES_AT_ONCE }, copyOn))
  }

  async #begin(): Promise<UnfinishedMultipartUpload> {
    const id = await createMultipartUpload(this.#client, this.#object, this.signal)
    this.#begun = { object: this.#object, id }
    return this.#begun
  }

  async #store(part: S3Part, number: number, upload: Promise<UnfinishedMultipartUpload>): Promise<void> {
    const sealed = part.seal()
    const etag = await uploadPart(this.#client, await upload, number, sealed, this.signal)
    const copy = this.#isReadable ? this.#copyOf?.(number, etag) : undefined
    const options = { signal: this.signal, retries: UPLOAD_RETRIES }
    if (copy !== undefined) await putObject(this.#client, copy, sealed, options)
    this.#stored.add(number, { etag, size: part.filled })
  }

  async #putWhole(content: S3Part | null): Promise<void> {
    const part = content ?? newPart(0)
    try {
      const options = { signal: this.signal, retries: UPLOAD_RETRIES }
      await putObject(this.#client, this.#object, part.seal(), options)
    } finally {
      if (content !== null) this.#release(content)
    }
  }

  async #join(upload: UnfinishedMultipartUpload, parts: readonly StoredPart[]): Promise<number> {
    const etags = parts.map(({ etag }) => etag)
    try {
      await completeMultipartUpload(this.#client, upload, etags, this.signal)
    } catch (error) {
      // An earlier try may have succeeded with its answer lost: the object's size tells.
      if (!isNoSuchUpload(error)) throw error
    }
    const [size, sum] = [await objectSize(this.#client, this.#object), sizeOf(parts)]
    assertInvariant(
      'object-size-is-total',
      size === sum,
      () => `${size ?? 'no'} bytes in the store, ${sum} written`,
    )
    return sum
  }
}

export function sizeOf(parts: readonly StoredPart[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0)
}

/** Numbered from 1, stored in any order. */
export class StoredParts {
  readonly #parts: Map<number, StoredPart>

  constructor(before: readonly StoredPart[]) {
    this.#parts = new Map(before.map((part, at) => [at + 1, part]))
  }

  add(number: number, part: StoredPart): void {
    this.#parts.set(number, part)
  }

  leading(): readonly StoredPart[] {
    const parts: StoredPart[] = []
    for (let number = 1; ; number++) {
      const part = this.#parts.get(number)
      if (part === undefined) return parts
      parts.push(part)
    }
  }

  /** Throws InvariantViolated unless the store has exactly so many parts, with so many bytes. */
  all(count: number, bytes: number): readonly StoredPart[] {
    const parts = this.leading()
    const known = this.#parts.size
    const hasNoGap = parts.length === count && known === count
    assertInvariant('parts-have-no-gap', hasNoGap, () => `${parts.length} of ${known}, ${count} sent`)
    const sum = sizeOf(parts)
    assertInvariant('parts-sum-to-total', sum === bytes, () => `${sum} bytes in parts, ${bytes} written`)
    return parts
  }
}

/** A buffer for the bytes of one request, so that they can be sent again. */
export interface S3Part {
  readonly size: number
  readonly filled: number
  readonly isFull: boolean
  take(chunk: Uint8Array): number
  /** Valid until more bytes are added. */
  seal(): SealedPart
  /** Frees the memory at once: parts would pile up between garbage collections. */
  free(): void
}

/** Most files are small: the buffer grows as needed. */
const FIRST_CAPACITY = 64 * 1024

export function newPart(size: number): S3Part {
  const hash = new Bun.CryptoHasher('md5')
  let buffer = new ArrayBuffer(Math.min(FIRST_CAPACITY, size))
  let filled = 0

  function growTo(wanted: number): void {
    let capacity = buffer.byteLength
    while (capacity < wanted) capacity *= 2
    buffer = buffer.transfer(Math.min(capacity, size))
  }

  return {
    size,
    get filled() {
      return filled
    },
    get isFull() {
      return filled === size
    },
    take(chunk) {
      const bytes = chunk.subarray(0, size - filled)
      if (filled + bytes.byteLength > buffer.byteLength) growTo(filled + bytes.byteLength)
      new Uint8Array(buffer).set(bytes, filled)
      hash.update(bytes)
      filled += bytes.byteLength
      return bytes.byteLength
    },
    seal: () => ({ bytes: new Uint8Array(buffer, 0, filled), md5: hash.copy().digest() }),
    free() {
      buffer.transfer(0)
    },
  }
}

const MIB = 1024 * 1024

/** `held`: parts in memory, the one being filled included. */
interface PartPlan {
  readonly size: number
  readonly held: number
}

/** Numbered from 1. Tests have different sizes. */
export type PlanPart = (number: number) => PartPlan

const LEAST_PART = 8 * MIB
/** Of the 10,000 parts S3 takes, with room for a wrapper's overhead. */
const PLANNED_PARTS = 9900
/** Memory of one upload, unless its parts are larger than half of it. */
const MEMORY = 56 * MIB

/** Equal parts, as some stores require. S3 takes 10,000 parts of 5 MiB to 5 GiB each. */
export function planFor(bytes: number): PlanPart {
  return planOf(Math.max(LEAST_PART, MIB * Math.ceil(bytes / PLANNED_PARTS / MIB)))
}

export function planOf(size: number): PlanPart {
  const held = Math.min(4, Math.max(2, Math.floor(MEMORY / size)))
  return () => ({ size, held })
}

export const LARGEST_BLOB = 10 * 1024 ** 3

export const MOST_PARTS = 10_000

export interface PartMemory {
  /** Returns false when there is not enough. */
  take(bytes: number): boolean
  give(bytes: number): void
}

export function partMemory(limit: number): PartMemory {
  let taken = 0
  return {
    take(bytes) {
      if (taken + bytes > limit) return false
      taken += bytes
      return true
    },
    give(bytes) {
      taken -= bytes
    },
  }
}

interface OwnMemory {
  /** As `PartMemory.take`. `due`: for the part that is always granted. */
  take(bytes: number, due: boolean): boolean
  give(bytes: number): void
}

function ownMemory(memory: PartMemory): OwnMemory {
  let held = 0
  let shared = 0
  return {
    take(bytes, due) {
      if (!due) {
        if (!memory.take(bytes)) return false
        shared += bytes
      }
      held += bytes
      return true
    },
    give(bytes) {
      held -= bytes
      // One remaining part counts as the one always granted.
      const stillShared = Math.min(shared, Math.max(0, held - bytes))
      memory.give(shared - stillShared)
      shared = stillShared
    },
  }
}

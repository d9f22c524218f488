import { assertInvariant } from '../domain/invariants.ts'
import { type OwnMemory, ownMemory, type PartMemory } from './part-memory.ts'
import type { S3Client } from './s3-client.ts'
import { S3Failure } from './s3-failure.ts'
import { objectSize, putObject, UPLOAD_RETRIES } from './s3-objects.ts'
import { MOST_PARTS, newPart, type PlanPart, type S3Part } from './s3-part.ts'
import { copyPart, rangesToCopy } from './s3-partial-reads.ts'
import { StoredParts, sizeOf } from './s3-stored-parts.ts'
import {
  completeMultipartUpload,
  createMultipartUpload,
  isNoSuchUpload,
  type StoredPart,
  type UnfinishedMultipartUpload,
  uploadPart,
} from './s3-uploads.ts'

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

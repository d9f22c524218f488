import type { BlobKey } from '../domain/ids.ts'
import { assertInvariant } from '../domain/invariants.ts'
import type { Random } from '../domain/random.ts'
import { assertAllKept } from './all-kept.ts'
import { BlobMissing, type KeptBlob, type ResumableWriter } from './blob-store.ts'
import type { PartMemory } from './part-memory.ts'
import type { S3Client } from './s3-client.ts'
import { asS3Failures, asS3WriteFailures } from './s3-failure.ts'
import { deleteObject, objectOf, putObject, UPLOAD_RETRIES } from './s3-objects.ts'
import type { PlanPart, S3Part } from './s3-part.ts'
import { partCopyOf } from './s3-partial-reads/part-copy-names.ts'
import { ObjectParts, type Written } from './s3-parts.ts'
import { printOf, progressText, type S3Progress } from './s3-progress.ts'
import { sizeOf } from './s3-stored-parts.ts'
import { dropTails, tailOf } from './s3-tails.ts'
import { abortMultipartUploads, isInvalidPart } from './s3-uploads.ts'

export interface S3SessionParts {
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
export class S3Session implements ResumableWriter {
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

export async function removeUnfinishedParts(client: S3Client, key: BlobKey): Promise<void> {
  await Promise.all([abortMultipartUploads(client, objectOf(key)), dropTails(client, key)])
}

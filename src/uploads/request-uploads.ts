import type { BlobStore } from '../blobs/blob-store.ts'
import { type Caller, type ContributorCaller, ownerOf, reachOf, type Sender } from '../core/callers.ts'
import type { Signing } from '../core/hmac.ts'
import type { StoreHealth } from '../core/store/store-health.ts'
import type { Database } from '../database/database.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { cleanFileName } from '../domain/file-name.ts'
import {
  type AccountId,
  type BlobKey,
  type FolderId,
  type FolderPlace,
  parseFolderPlace,
} from '../domain/ids.ts'
import { makeSlug, makeUuid, type Random } from '../domain/random.ts'
import type { Answers } from '../domain/upload-terms.ts'
import { placeAndTransfer, resolvePlace } from '../files/folders/places.ts'
import { assertTakesMore } from '../files/transfers.rows.ts'
import type { Alongside, FileCommit, FileLink, StoredFile } from './commit.ts'
import { type Contributions, hideOwnerDetails, idempotencyKeyRefused } from './contributions.ts'
import { type AdmitContributor, type AdmitGuest, guestAddress } from './guest-admission.ts'
import type { ContentHashing } from './hashing/content-hash.ts'
import { checkedKey, type FirstRequest, type Idempotency, repeatedFile } from './idempotency.ts'
import { FileHead, type IncomingContent, incomingContent } from './incoming-content.ts'
import type { BodyReader, PartSink } from './multipart.ts'
import { assertFileSize, fileTooLarge } from './refusals.ts'
import type { RequestReservation, Reservations } from './reservations.ts'
import type { AnnouncedFile, UploadFormat } from './upload-format.ts'

export interface UploadRequest {
  readonly folder: string | null
  readonly key: string | null
  readonly format: UploadFormat
  readonly body: BodyReader
  readonly declared: number | null
  /** Valid once the format is at the file. */
  readonly answers: () => Answers
}

export type FormOfFiles = Pick<UploadRequest, 'format' | 'body'>

interface Target {
  readonly account: AccountId
  readonly address: string | null
  readonly folder: FolderId
}

/** Uploads of one request: who may send them, under which key, and their way from the first byte to the file. */
export class RequestUploads {
  readonly #idempotency: Idempotency
  readonly #contributions: Contributions
  readonly #admitGuest: AdmitGuest
  readonly #admitContributor: AdmitContributor
  readonly #storing: UploadStoring
  readonly #random: Random
  readonly #report: (error: unknown) => void

  constructor(parts: {
    idempotency: Idempotency
    contributions: Contributions
    admitGuest: AdmitGuest
    admitContributor: AdmitContributor
    storing: UploadStoring
    random: Random
    report: (error: unknown) => void
  }) {
    this.#idempotency = parts.idempotency
    this.#contributions = parts.contributions
    this.#admitGuest = parts.admitGuest
    this.#admitContributor = parts.admitContributor
    this.#storing = parts.storing
    this.#random = parts.random
    this.#report = parts.report
  }

  /**
   * Or returns an earlier request's file with the key. Checks before reading. Returns once the file would survive a
   * power cut; after a failure nothing is left. Throws Refusal as `AdmitGuest`, `Idempotency.begin`,
   * `UploadStoring.begin`, `Contributions.take` and the format do.
   */
  async receive(caller: Sender, request: UploadRequest): Promise<StoredFile> {
    const { folder, format, body } = request
    if (caller.kind === 'contributor') {
      if (request.key !== null) throw idempotencyKeyRefused()
      await this.#admitContributor(caller.bucket)
      return hideOwnerDetails(() => this.#receiveNew(caller, 'root', request, null))
    }
    if (caller.kind === 'guest')
      await this.#admitGuest(caller.bucket, folder !== null && caller.within === undefined)
    const place = (caller.kind === 'guest' ? caller.within : undefined) ?? parseFolderPlace(folder)
    const key = checkedKey(request.key, caller)
    if (key === null) return this.#receiveNew(caller, place, request, null)
    const begun = await this.#idempotency.begin(caller, format.route, key)
    if ('earlier' in begun) return repeatedFile(body, place, format, begun.earlier)
    let isStored = false
    try {
      const file = await this.#receiveNew(caller, place, request, begun.first)
      isStored = true
      return file
    } finally {
      await begun.first.end(isStored)
    }
  }

  /**
   * The files of a form, each of which is stored before the next begins; after a failure those before it are there.
   * `place`: theirs. Throws as `receive`.
   */
  async receiveAll(caller: Caller, place: FolderPlace, { format, body }: FormOfFiles): Promise<void> {
    let upload: RequestUpload | null = null
    try {
      await format.read(body, async ({ name, type, size }) => {
        if (caller.kind === 'guest') await this.#admitGuest(caller.bucket, false)
        const begun = await this.#storing.begin(caller, place, { least: size.least, declared: size.most })
        upload = begun
        await begun.announce(size.most)
        return {
          write: (chunk) => begun.write(chunk),
          async end() {
            await begun.finish(name, type)
          },
        }
      })
    } catch (error) {
      await aborted(upload).catch(this.#report)
      throw upload === null ? error : refusalOf(upload, error)
    }
  }

  async #receiveNew(
    caller: Sender,
    place: FolderPlace,
    request: UploadRequest,
    first: FirstRequest | null,
  ): Promise<StoredFile> {
    const { format, body, declared } = request
    const least = declared === null ? 0 : format.least(declared)
    const upload = await this.#storing.begin(caller, place, { least, declared })
    let finish: (() => Promise<StoredFile>) | null = null
    try {
      await format.read(body, async (file) => {
        await upload.announce(file.size.most)
        if (caller.kind === 'contributor') {
          const contribution = await this.#contribution(caller, upload, file, request.answers())
          finish = contribution.finish
          return contribution.sink
        }
        const sent = { name: cleanFileName(file.name), place, length: file.length }
        const alongside: Alongside | null =
          first && ((trx, stored) => first.store(trx, { file: stored, request: sent }))
        finish = () => upload.finish(file.name, file.type, { alongside })
        return { write: (chunk) => upload.write(chunk), end: () => {} }
      })
      return await finished(finish)
    } catch (error) {
      // Later errors are only logged; the caller gets the first.
      await upload.abort().catch(this.#report)
      throw upload.refusalFor(error)
    }
  }

  async #contribution(
    caller: ContributorCaller,
    upload: RequestUpload,
    file: AnnouncedFile,
    answers: Answers,
  ): Promise<{ readonly sink: PartSink; readonly finish: () => Promise<StoredFile> }> {
    const contributions = this.#contributions
    const offered = { name: cleanFileName(file.name), size: lengthOf(file) }
    await contributions.check(caller, offered, answers)
    const link = { uuid: makeUuid(this.#random), slug: makeSlug(this.#random) }
    const wanted = { ...offered, answers, uuid: link.uuid, reservation: upload.key }
    // At the first byte, or the end of an empty file: clients that send nothing block no others.
    let taken: Promise<void> | null = null
    const take = () => (taken ??= contributions.takeNow(caller, wanted))
    const alongside: Alongside = (trx, { id, size }) =>
      contributions.arrived(trx, caller, { id, size, name: offered.name }, caller.bucket)
    return {
      sink: {
        async write(chunk) {
          await take()
          await upload.write(chunk, offered.size)
        },
        end: take,
      },
      finish: () => upload.finish(file.name, file.type, { alongside, isAlone: true, link }),
    }
  }
}

/** Length that a link counts until the file is stored. */
function lengthOf({ length }: AnnouncedFile): number {
  if (length !== null) return length
  throw new Refusal('INVALID_REQUEST', 'Say how many bytes come, in Content-Length: this link has limits')
}

/** Harmless for one that is stored. */
async function aborted(upload: RequestUpload | null): Promise<void> {
  await upload?.abort()
}

function refusalOf(upload: RequestUpload, error: unknown): unknown {
  return upload.refusalFor(error)
}

function finished(finish: (() => Promise<StoredFile>) | null): Promise<StoredFile> {
  if (finish === null) throw new Error('a body was read to its end without a file')
  return finish()
}

interface StoringParts {
  readonly blobs: BlobStore
  readonly health: StoreHealth
  readonly hashing: ContentHashing
  readonly commit: FileCommit
  readonly maxFileSize: number
  readonly clock: Pick<Clock, 'now'>
}

/** Reserves, stores and commits the file of a request. */
export class UploadStoring {
  readonly #parts: StoringParts
  readonly #db: Database
  readonly #reservations: Reservations
  readonly #signing: Signing

  constructor({
    db,
    reservations,
    signing,
    ...parts
  }: StoringParts & {
    readonly db: Database
    readonly reservations: Reservations
    readonly signing: Signing
  }) {
    this.#parts = parts
    this.#db = db
    this.#reservations = reservations
    this.#signing = signing
  }

  /**
   * Reserves before a byte is read. `least`: bytes of the file; `declared`: of the body. Call `finish` or `abort`
   * afterwards. Throws Refusal FOLDER_NOT_FOUND, LINK_USED_UP, FILE_TOO_LARGE, STORAGE_LIMIT_EXCEEDED,
   * STORAGE_UNAVAILABLE, RATE_LIMITED.
   */
  async begin(
    caller: Sender,
    place: FolderPlace,
    { least, declared }: { readonly least: number; readonly declared: number | null },
  ): Promise<RequestUpload> {
    const { health, clock } = this.#parts
    health.assertUsable()
    const reach = reachOf(caller)
    // A named folder may be in a transfer, whose reservation says so; the top level is looked up meanwhile.
    const isNamed = place !== 'root' || reach.within !== null
    const named = isNamed ? await placeAndTransfer(this.#db, reach, place) : null
    const transfer = named?.transfer ?? null
    if (transfer !== null) await assertTakesMore(this.#db, transfer, clock.now())
    const [folder, reserved] = await Promise.allSettled([
      named?.folder ?? resolvePlace(this.#db, reach, place),
      this.#reserve(caller, { least, declared, transfer }),
    ])
    if (folder.status === 'rejected') {
      if (reserved.status === 'fulfilled' && !(reserved.value instanceof Refusal))
        await reserved.value.release()
      throw folder.reason
    }
    if (reserved.status === 'rejected') throw reserved.reason
    const address = caller.kind === 'account' ? null : guestAddress(this.#signing, caller.bucket)
    const target = { account: ownerOf(caller), address, folder: folder.value }
    return new RequestUpload(this.#parts, target, reserved.value, declared)
  }

  /** Returns a full account's refusal where the body, but perhaps not the file, is too large for any account. */
  async #reserve(
    caller: Sender,
    {
      least,
      declared,
      transfer,
    }: { readonly least: number; readonly declared: number | null; readonly transfer: FolderId | null },
  ): Promise<RequestReservation | Refusal> {
    const { maxFileSize } = this.#parts
    assertFileSize(least, maxFileSize)
    try {
      return await this.#reservations.reserve(caller, least, Math.min(declared ?? 0, maxFileSize), transfer)
    } catch (error) {
      if (isStorageLimit(error) && declared !== null && declared > maxFileSize) return error
      throw error
    }
  }
}

function isStorageLimit(error: unknown): error is Refusal {
  return error instanceof Refusal && error.code === 'STORAGE_LIMIT_EXCEEDED'
}

/** After any error only `abort` makes sense. */
export class RequestUpload {
  readonly #parts: StoringParts
  readonly #target: Target
  readonly #reserved: RequestReservation | Refusal
  readonly #declared: number
  /** Begun with the upload, so that the disk works while the bytes come. */
  readonly #recorded: Promise<void>
  readonly #head = new FileHead()
  #content: IncomingContent | null = null
  #most = 0
  #received = 0
  #isComplete = false
  #isStored = false

  constructor(
    parts: StoringParts,
    target: Target,
    reserved: RequestReservation | Refusal,
    declared: number | null,
  ) {
    this.#parts = parts
    this.#target = target
    this.#reserved = reserved
    this.#declared = declared ?? 0
    this.#recorded = reserved instanceof Refusal ? Promise.resolve() : reserved.recorded()
  }

  get key(): BlobKey {
    return this.#reservation().key
  }

  /** Call before the first byte. `most`: bytes of the file, 0 for unknown. Throws the refusal of a full account. */
  async announce(most: number): Promise<void> {
    this.#most = most
    await this.#reservation().expect(most)
  }

  /** Takes up to `most` bytes. Throws Refusal when a limit is passed or the store fails. */
  async write(chunk: Uint8Array, most = Number.POSITIVE_INFINITY): Promise<void> {
    this.#received += chunk.byteLength
    if (this.#received > most) throw new Refusal('INVALID_REQUEST', 'The file is longer than was declared')
    assertFileSize(this.#received, this.#parts.maxFileSize)
    await this.#reservation().cover(this.#received)
    this.#head.take(chunk)
    await this.#storing(async () => (await this.#opened()).write(chunk))
  }

  /** Returns once bytes, row and the effects of `alongside` would survive a power cut. */
  async finish(
    rawName: string,
    declaredType: string | null,
    {
      link = null,
      ...further
    }: {
      readonly link?: FileLink | null
      readonly alongside?: Alongside | null
      readonly isAlone?: boolean
    } = {},
  ): Promise<StoredFile> {
    const digest = await this.#storing(async () => (await this.#opened()).complete(this.#recorded))
    this.#isComplete = true
    const reservation = this.#reservation()
    const upload = {
      ...this.#target,
      key: reservation.key,
      digest,
      size: this.#received,
      head: this.#head.bytes(),
      name: cleanFileName(rawName),
      declaredType,
      link,
      reserved: reservation.reserved(),
    }
    const settled = reservation.settle(this.#received)
    const file = await this.#parts.commit.commit(upload, further)
    this.#isStored = true
    reservation.used()
    await settled
    return file
  }

  /** Leaves nothing behind. Harmless after `finish`. */
  async abort(): Promise<void> {
    if (this.#isStored || this.#reserved instanceof Refusal) return
    try {
      // Once the row may exist, the bytes may belong to a file: releasing the reservation asks the database.
      if (!this.#isComplete) await this.#content?.abort()
    } finally {
      await this.#reserved.release()
    }
  }

  /** A file too large for any account gets that refusal, even where this account is full. */
  refusalFor(error: unknown): unknown {
    const { maxFileSize } = this.#parts
    return this.#most > maxFileSize && isStorageLimit(error) ? fileTooLarge(maxFileSize) : error
  }

  #reservation(): RequestReservation {
    if (this.#reserved instanceof Refusal) throw this.#reserved
    return this.#reserved
  }

  async #opened(): Promise<IncomingContent> {
    const reservation = this.#reservation()
    const { blobs, hashing } = this.#parts
    const wrote = (bytes: number) => reservation.wrote(bytes)
    this.#content ??= await incomingContent(reservation.key, { blobs, hashing, wrote }, this.#declared)
    return this.#content
  }

  async #storing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw this.#parts.health.refusalFor(error)
    }
  }
}

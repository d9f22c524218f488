import { type Caller, type ContributorCaller, reachOf, type Sender } from '../../core/callers.ts'
import type { Database } from '../../database/database.ts'
import type { Reach } from '../../domain/access.ts'
import { type Clock, sleep } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { cleanFileName } from '../../domain/file-name.ts'
import {
  type FolderIdentifier,
  GUESTS,
  type OwnUploadName,
  type Slug,
  type UploadToken,
} from '../../domain/ids.ts'
import { findFile } from '../../files/files.rows.ts'
import { assertFolderExists, isWithin } from '../../files/folders/places.ts'
import type { StoredFile } from '../commit.ts'
import { type Contributions, hideOwnerDetails } from '../contributions.ts'
import type { AdmitContributor, AdmitGuest } from '../guest-admission.ts'
import { checkedKey } from '../idempotency.ts'
import { assertFileSize } from '../refusals.ts'
import { type UploadRow, uploadById } from '../uploads.rows.ts'
import type { AppendHandler } from './append-handler.ts'
import { type AppendLeases, locked } from './append-leases.ts'
import { type ByteSource, QUIET_AFTER } from './append-stream.ts'
import { awaitsParts, partsLeft } from './awaited-parts.ts'
import type { BytesBefore, BytesBeforeOffset } from './bytes-before.ts'
import type { ExpectedChecksum } from './chunk-checksum.ts'
import type { Finishing } from './finishing.ts'
import { joinedByLast, joinedIfWhole } from './part-claims.ts'
import { declaredUploadSize, type NewUpload, startedBy, type UploadCreation } from './upload-creation.ts'
import { endAndDeleteUpload } from './upload-endings.ts'
import type { UploadLookup } from './upload-lookup.ts'
import type { UploadReservations } from './upload-reservations.ts'

/** Times are milliseconds since the epoch. */
export type ResumableUpload = Pick<
  UploadRow,
  | 'id'
  | 'slug'
  | 'uuid'
  | 'account_id'
  | 'folder_id'
  | 'name'
  | 'metadata'
  | 'kind'
  | 'concat'
  | 'size'
  | 'received'
  | 'state'
  | 'created_at'
  | 'used_at'
  | 'link_id'
>

export interface ResumableUploadParts {
  readonly db: Database
  readonly lookup: UploadLookup
  readonly creation: UploadCreation
  readonly leases: AppendLeases
  readonly appendHandler: AppendHandler
  readonly finishing: Finishing
  readonly reservations: UploadReservations
  readonly before: BytesBeforeOffset
  readonly contributions: Contributions
  readonly admitGuest: AdmitGuest
  readonly admitContributor: AdmitContributor
  readonly clock: Clock
  readonly maxFileSize: number
  readonly report: (error: unknown) => void
}

/** Milliseconds. */
const PROCESSING_PATIENCE = 5000

/** All state is in rows: any node may take any request. `nameForOwner` works like the token. */
export class ResumableUploads {
  readonly #parts: ResumableUploadParts

  constructor(parts: ResumableUploadParts) {
    this.#parts = parts
  }

  /**
   * Fully reserved. A final upload waits for unfinished parts; an idempotency key creates an equal one only once.
   * Throws Refusal as `AdmitGuest` and `DirectUploads.begin` do, INVALID_NAME, MAX_DEPTH_EXCEEDED, or UPLOAD_NOT_FOUND
   * and OFFSET_CONFLICT for parts that are missing, or have no length yet.
   */
  async create(caller: Sender, request: NewUpload): Promise<{ token: UploadToken; upload: ResumableUpload }> {
    const { lookup, creation, admitGuest } = this.#parts
    const { content, namesFolder } = request
    if (caller.kind === 'contributor') return this.#contribute(caller, request)
    if (content.kind === 'final' || content.kind === 'in parts') checkedKey(content.key, caller)
    const repeatable = creation.repeatableToken(caller, request)
    const before = repeatable === null ? null : await this.#begunFinal(caller, repeatable)
    if (before !== null) return before
    if (caller.kind === 'guest') await admitGuest(caller.bucket, namesFolder, startedBy(request))
    const tokens = content.kind === 'final' ? content.parts : []
    const found = await Promise.all(tokens.map((part) => lookup.ownPart(caller, part)))
    try {
      const { token, upload } = await creation.create(caller, request, found)
      return { token, upload: upload.state === 'processing' ? await this.#processed(upload) : upload }
    } catch (error) {
      // An equal request may run concurrently.
      const same = repeatable === null ? null : await this.#begunFinal(caller, repeatable)
      if (same !== null) return same
      throw error
    }
  }

  /** Reserves nothing that the link would not take. */
  async #contribute(
    caller: ContributorCaller,
    request: NewUpload,
  ): Promise<{ token: UploadToken; upload: ResumableUpload }> {
    const { contributions, creation, admitContributor } = this.#parts
    const file = { name: cleanFileName(request.name), size: declaredUploadSize(request) }
    await admitContributor(caller.bucket)
    return hideOwnerDetails(async () => {
      await contributions.check(caller, file, request.answers ?? {})
      const { token, upload } = await creation.create(caller, request, [])
      return { token, upload: upload.state === 'processing' ? await this.#processed(upload) : upload }
    })
  }

  /** Null unless it got its parts. */
  async #begunFinal(
    caller: Caller,
    token: UploadToken,
  ): Promise<{ token: UploadToken; upload: UploadRow } | null> {
    const upload = await this.#parts.lookup.begunFinal(caller, token)
    if (upload === null) return null
    return { token, upload: upload.state === 'processing' ? await this.#processed(upload) : upload }
  }

  /** As recorded. Throws Refusal UPLOAD_NOT_FOUND, UPLOAD_GONE, or INVALID_API_KEY. */
  async find(caller: Caller, name: string): Promise<ResumableUpload> {
    const { db, lookup, clock } = this.#parts
    return joinedIfWhole(db, await lookup.alive(caller, name), clock.now())
  }

  /** Without a writer, so the offset stays true. Waits a while for processing. Throws Refusal UPLOAD_LOCKED besides. */
  async atRest(caller: Caller, name: string): Promise<ResumableUpload> {
    const { db, lookup, clock } = this.#parts
    const found = await joinedIfWhole(db, await lookup.alive(caller, name), clock.now())
    if (awaitsParts(found)) return found
    const free = await this.#whenFree(found)
    return lookup.assertAlive(free.state === 'processing' ? await this.#processed(free) : free)
  }

  bytesBefore({ id, kind, received }: ResumableUpload, most: number): Promise<BytesBefore | null> {
    return kind === 'final' ? Promise.resolve(null) : this.#parts.before.of(id, received, most)
  }

  /** Reports durable bytes only. Throws Refusal FOLDER_NOT_FOUND while the folder is deleted or in the bin. */
  async append(caller: Caller, name: string, bytes: NextBytes): Promise<ResumableUpload> {
    const { db, lookup, maxFileSize, report } = this.#parts
    const found = await lookup.alive(caller, name)
    if (found.kind === 'final') {
      throw new Refusal('UPLOAD_IS_FINAL', 'This upload is made of parts and takes no bytes')
    }
    // Recorded bytes only grow, so this needs no lease.
    if (bytes.offset < found.received) throw conflict(found)
    const upload = await lookup.assertAlive(await this.#whenFree(found))
    assertFollows(upload, bytes, maxFileSize)
    if (upload.state !== 'uploading') {
      if (!(await bytes.source.read()).done) throw tooLong(upload)
      const present = upload.state === 'processing' ? await this.#processed(upload) : upload
      if (present.state === 'processing') {
        await hidingOwnerDetails(upload, () => assertFolderExists(db, upload.folder_id))
      }
      return present
    }
    await hidingOwnerDetails(upload, () => this.#receive(caller, upload, bytes))
    const present = (await uploadById(db, upload.id)) ?? upload
    if (present.kind === 'partial' && present.state === 'completed') {
      this.#joinIfLast(present).catch((error: unknown) => {
        if (!(error instanceof Refusal)) report(error)
      })
    }
    return present
  }

  /** The last part makes the file at once, not at the next request. */
  async #joinIfLast(part: UploadRow): Promise<void> {
    const { db, finishing, clock } = this.#parts
    const final = await joinedByLast(db, part, clock.now())
    if (final?.state === 'processing') await finishing.resume(final)
  }

  /** The file of a completed upload stays. */
  async terminate(caller: Caller, name: string): Promise<void> {
    await this.#forget(await this.#parts.lookup.authorized(caller, name))
  }

  /** For owners who have lost the address. Throws Refusal UPLOAD_NOT_FOUND. */
  async cancel(reach: Reach, slug: Slug): Promise<void> {
    await this.#forget(await this.#parts.lookup.openBySlug(reach, slug))
  }

  /** Throws Refusal UPLOAD_GONE when the file was deleted, or moved out of reach. */
  async result(caller: Caller, { uuid, link_id }: ResumableUpload): Promise<StoredFile> {
    const { db } = this.#parts
    const file = await findFile(db, { kind: 'uuid', uuid })
    const isThere =
      file !== undefined &&
      (link_id !== null ||
        file.account_id === GUESTS ||
        (await isWithin(db, reachOf(caller), file.folder_id)))
    if (!isThere) throw new Refusal('UPLOAD_GONE', 'The file that was uploaded here has been deleted')
    return file
  }

  /** Unfinished ones within reach, oldest first, at most 1,000. */
  list(reach: Reach): Promise<ResumableUpload[]> {
    return this.#parts.lookup.list(reach)
  }

  /** The folder in which `depth` folders of the upload's path were created; null for the top level. */
  startOf(reach: Reach, upload: ResumableUpload, depth: number): Promise<FolderIdentifier | null> {
    return this.#parts.lookup.startOf(reach, upload, depth)
  }

  nameForOwner(upload: ResumableUpload): OwnUploadName {
    return this.#parts.lookup.nameForOwner(upload)
  }

  bySlug(reach: Reach, slug: Slug): Promise<ResumableUpload | null> {
    return this.#parts.lookup.bySlug(reach, slug)
  }

  expiresAt(upload: ResumableUpload): number {
    return this.#parts.lookup.expiresAt(upload)
  }

  async #whenFree(upload: UploadRow): Promise<UploadRow> {
    return upload.state === 'uploading' ? this.#parts.leases.whenFree(upload.id) : upload
  }

  async #receive(caller: Caller, upload: UploadRow, bytes: NextBytes): Promise<void> {
    const { leases, appendHandler, reservations } = this.#parts
    const { source, size, checksum } = bytes
    const holder = {
      isIdle: () => source.quietFor() >= QUIET_AFTER,
      stop: () => source.end(locked()),
    }
    await leases.run(upload, holder, async (lease) => {
      const declares = upload.size === null && size !== null
      const sized = declares
        ? { ...upload, size, reserved: await reservations.declareSize(caller, upload, size) }
        : upload
      await appendHandler.receive(sized, lease, { caller, source, checksum })
    })
  }

  async #processed(upload: UploadRow): Promise<UploadRow> {
    const { db, finishing, clock, report } = this.#parts
    const end = finishing.resume(upload).catch((error: unknown) => {
      if (!(error instanceof Refusal)) report(error)
    })
    await Promise.race([end, sleep(clock.timers, PROCESSING_PATIENCE)])
    return (await uploadById(db, upload.id)) ?? upload
  }

  async #forget(upload: UploadRow): Promise<void> {
    const { db, leases, clock } = this.#parts
    await leases.stop(upload.id)
    if (awaitsParts(upload)) for (const part of await partsLeft(db, upload)) await leases.stop(part.id)
    await endAndDeleteUpload(db, upload, clock.now())
  }
}

function hidingOwnerDetails(upload: UploadRow, work: () => Promise<void>): Promise<void> {
  return upload.link_id === null ? work() : hideOwnerDetails(work)
}

interface NextBytes {
  readonly offset: number
  /** Set when this request declares the upload's size. */
  readonly size: number | null
  readonly length: number | null
  readonly checksum: ExpectedChecksum | null
  readonly source: ByteSource
}

/** Throws Refusal unless the bytes follow the upload's offset and fit. */
function assertFollows(upload: UploadRow, bytes: NextBytes, maxFileSize: number): void {
  if (bytes.offset !== upload.received) throw conflict(upload)
  if (bytes.size !== null && upload.size !== null && bytes.size !== upload.size) {
    throw new Refusal(
      'INVALID_REQUEST',
      `The size of this upload is ${upload.size} bytes and cannot be changed`,
    )
  }
  assertFileSize(bytes.size ?? 0, maxFileSize)
  const size = upload.size ?? bytes.size
  if (size !== null && bytes.offset + (bytes.length ?? 0) > size) throw tooLong({ size })
}

function conflict(upload: UploadRow): Refusal {
  const message = `The upload is at offset ${upload.received}; ask for its offset and go on from there`
  return new Refusal('OFFSET_CONFLICT', message)
}

function tooLong({ size }: Pick<UploadRow, 'size'>): Refusal {
  return new Refusal(
    'PAYLOAD_TOO_LARGE',
    `The upload was announced with ${size} bytes, and this would be more`,
  )
}

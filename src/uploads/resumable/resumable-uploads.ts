import { findAccount } from '../../core/accounts.rows.ts'
import {
  assertScope,
  type Caller,
  type ContributorCaller,
  ownerOf,
  reachOf,
  type Sender,
} from '../../core/callers.ts'
import { hashToken, type Signing } from '../../core/hmac.ts'
import type { Aging, Outages } from '../../core/outages.ts'
import type { Database } from '../../database/database.ts'
import type { Reach } from '../../domain/access.ts'
import { type Clock, sleep } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { cleanFileName } from '../../domain/file-name.ts'
import {
  type FolderIdentifier,
  GUESTS,
  isSlug,
  type OwnUploadName,
  type Slug,
  type UploadToken,
} from '../../domain/ids.ts'
import { findFile } from '../../files/files.ts'
import { findFolder, folderChain } from '../../files/folders/folders.rows.ts'
import { assertFolderExists, isWithin, wasWithin } from '../../files/folders/places.ts'
import type { StoredFile } from '../commit.ts'
import { type Contributions, hideOwnerDetails } from '../contributions.ts'
import type { AdmitContributor, AdmitGuest } from '../guest-admission.ts'
import { checkedKey } from '../idempotency.ts'
import { assertFileSize } from '../refusals.ts'
import {
  openUploadBySlug,
  openUploads,
  type UploadRow,
  uploadById,
  uploadBySlug,
  uploadByToken,
} from '../uploads.rows.ts'
import { type AppendHandler, type ByteSource, QUIET_AFTER } from './append.ts'
import type { BytesBefore, BytesBeforeOffset } from './arriving-bytes.ts'
import {
  awaitsPartial,
  endAndDeleteUpload,
  joinedIfWhole,
  partialLeft,
  withPartialReceived,
} from './concatenation.ts'
import {
  declaredUploadSize,
  type NewUpload,
  repeatableToken,
  type UploadCreation,
  type UploadReservations,
} from './creation.ts'
import type { Finishing } from './finish.ts'
import { type AppendLeases, locked, uploadNotFound } from './leases.ts'
import type { ExpectedChecksum } from './tus-headers.ts'

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

const MOST_LISTED = 1000

/** Milliseconds. */
const PROCESSING_PATIENCE = 5000

/** All state is in rows: any node may take any request. `nameForOwner` works like the token. */
export class ResumableUploads {
  readonly #parts

  constructor(parts: {
    readonly db: Database
    readonly ownNames: OwnUploadNames
    readonly outages: Pick<Outages, 'settle'>
    readonly aging: Aging
    /** For uploads without a byte. */
    readonly emptyAging: Aging
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
  }) {
    this.#parts = parts
  }

  /**
   * Fully reserved. A final upload waits for unfinished parts; an idempotency key creates an equal one only once.
   * Throws Refusal as `AdmitGuest` and `UploadStoring.begin` do, INVALID_NAME, MAX_DEPTH_EXCEEDED, or UPLOAD_NOT_FOUND
   * and OFFSET_CONFLICT for parts that are missing, or have no length yet.
   */
  async create(caller: Sender, request: NewUpload): Promise<{ token: UploadToken; upload: ResumableUpload }> {
    const { creation, admitGuest } = this.#parts
    const { content, namesFolder } = request
    if (caller.kind === 'contributor') return this.#contribute(caller, request)
    if (content.kind === 'final') checkedKey(content.key, caller)
    const repeatable = repeatableToken(request)
    const before = repeatable === null ? null : await this.#begunBefore(caller, repeatable)
    if (before !== null) return before
    if (caller.kind === 'guest') await admitGuest(caller.bucket, namesFolder, content.kind === 'partial')
    const tokens = content.kind === 'final' ? content.parts : []
    const found = await Promise.all(tokens.map((part) => this.#ownPartial(caller, part)))
    try {
      const { token, upload } = await creation.create(caller, request, found)
      return { token, upload: upload.state === 'processing' ? await this.#processed(upload) : upload }
    } catch (error) {
      // An equal request may run concurrently.
      const same = repeatable === null ? null : await this.#begunBefore(caller, repeatable)
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

  /** As recorded. Throws Refusal UPLOAD_NOT_FOUND, UPLOAD_GONE, or INVALID_API_KEY. */
  async find(caller: Caller, name: string): Promise<ResumableUpload> {
    const { db, clock } = this.#parts
    return joinedIfWhole(db, await this.#alive(caller, name), clock.now())
  }

  /** Without a writer, so the offset stays true. Waits a while for processing. Throws Refusal UPLOAD_LOCKED besides. */
  async atRest(caller: Caller, name: string): Promise<ResumableUpload> {
    const { db, clock } = this.#parts
    const found = await joinedIfWhole(db, await this.#alive(caller, name), clock.now())
    if (awaitsPartial(found)) return found
    const free = await this.#whenFree(found)
    return this.#assertAlive(free.state === 'processing' ? await this.#processed(free) : free)
  }

  bytesBefore({ id, kind, received }: ResumableUpload, most: number): Promise<BytesBefore | null> {
    return kind === 'final' ? Promise.resolve(null) : this.#parts.before.of(id, received, most)
  }

  /** Reports durable bytes only. Throws Refusal FOLDER_NOT_FOUND while the folder is deleted or in the bin. */
  async append(caller: Caller, name: string, bytes: NextBytes): Promise<ResumableUpload> {
    const { db, maxFileSize } = this.#parts
    const found = await this.#alive(caller, name)
    if (found.kind === 'final') {
      throw new Refusal('UPLOAD_IS_FINAL', 'This upload is made of parts and takes no bytes')
    }
    // Recorded bytes only grow, so this needs no lease.
    if (bytes.offset < found.received) throw conflict(found)
    const upload = await this.#assertAlive(await this.#whenFree(found))
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
    return (await uploadById(db, upload.id)) ?? upload
  }

  /** The file of a completed upload stays. */
  async terminate(caller: Caller, name: string): Promise<void> {
    await this.#forget(await this.#authorized(caller, name))
  }

  /** For owners who have lost the address. Throws Refusal UPLOAD_NOT_FOUND. */
  async cancel(reach: Reach, slug: Slug): Promise<void> {
    await this.#forget(await this.#openBySlug(reach, slug))
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
    if (awaitsPartial(upload)) for (const part of await partialLeft(db, upload)) await leases.stop(part.id)
    await endAndDeleteUpload(db, upload, clock.now())
  }

  /** Of an equal earlier request; null unless it has its partial uploads or waits for them. Throws as `#alive` does. */
  async #begunBefore(
    caller: Caller,
    token: UploadToken,
  ): Promise<{ token: UploadToken; upload: UploadRow } | null> {
    const found = await uploadByToken(this.#parts.db, hashToken(token))
    if (found === undefined || (found.state === 'uploading' && !awaitsPartial(found))) return null
    const upload = await this.#alive(caller, token)
    return { token, upload: upload.state === 'processing' ? await this.#processed(upload) : upload }
  }

  /** Throws Refusal UPLOAD_NOT_FOUND or INVALID_API_KEY. */
  async #authorized(caller: Caller, name: string): Promise<UploadRow> {
    const upload = await this.#named(caller, name)
    if (upload === undefined) throw uploadNotFound()
    // A contributor has no account: the token suffices.
    const isContributors = upload.link_id !== null && upload.token_hash === hashToken(name)
    if (isContributors) {
      const owner = await findAccount(this.#parts.db, upload.account_id)
      if (owner?.disabled_at !== null) throw uploadNotFound()
    } else if (upload.account_id !== GUESTS) {
      if (caller.kind === 'guest') {
        throw new Refusal(
          'INVALID_API_KEY',
          'This upload was started with an API key and needs one of that account',
        )
      }
      if (caller.account !== upload.account_id) throw uploadNotFound()
      // A folder in the bin may be restored, and the upload goes on then.
      if (!(await wasWithin(this.#parts.db, caller, upload.folder_id))) throw uploadNotFound()
    }
    return upload
  }

  /** Throws Refusal UPLOAD_GONE besides. */
  async #alive(caller: Caller, name: string): Promise<UploadRow> {
    return this.#assertAlive(await withPartialReceived(this.#parts.db, await this.#authorized(caller, name)))
  }

  /** Works for guests too: a part's reservation passes to the final upload within one account. */
  async #ownPartial(caller: Caller, token: UploadToken): Promise<UploadRow> {
    const part = await this.#authorized(caller, token)
    if (part.account_id !== ownerOf(caller)) throw uploadNotFound()
    return part
  }

  /** Throws Refusal UPLOAD_GONE when the upload has expired or failed. */
  async #assertAlive(upload: UploadRow): Promise<UploadRow> {
    // An expired upload may have waited out an outage not recorded yet.
    const { clock, outages } = this.#parts
    const hasExpired =
      this.#hasExpired(upload, clock.now()) && this.#hasExpired(upload, await outages.settle())
    if (upload.state !== 'failed' && !hasExpired) return upload
    throw new Refusal('UPLOAD_GONE', 'This upload has expired or failed; start a new one')
  }

  /** Throws Refusal UPLOAD_NOT_FOUND. */
  async #openBySlug(reach: Reach, slug: Slug): Promise<UploadRow> {
    const { db } = this.#parts
    const upload = await openUploadBySlug(db, reach.account, slug)
    if (upload === undefined || !(await isWithin(db, reach, upload.folder_id))) throw uploadNotFound()
    return upload
  }

  async bySlug(reach: Reach, slug: Slug): Promise<UploadRow | null> {
    const { db } = this.#parts
    const upload = await uploadBySlug(db, slug)
    if (upload?.account_id !== reach.account) return null
    return (await isWithin(db, reach, upload.folder_id)) ? withPartialReceived(db, upload) : null
  }

  /** Unfinished, within reach, oldest first, at most 1,000. */
  async list({ account, within }: Reach): Promise<UploadRow[]> {
    const { db } = this.#parts
    const top = within === null ? null : await findFolder(db, within)
    if (top === undefined) return []
    const uploads = await openUploads(db, account, top?.id ?? null, MOST_LISTED)
    return Promise.all(uploads.map((upload) => withPartialReceived(db, upload)))
  }

  /** The folder in which `depth` folders of the upload's path were created; null for the top of the reach. */
  async startOf(
    { within }: Reach,
    { folder_id }: Pick<UploadRow, 'folder_id'>,
    depth: number,
  ): Promise<FolderIdentifier | null> {
    const chain = await folderChain(this.#parts.db, folder_id)
    const top = within === null ? 0 : chain.findIndex(({ identifier }) => identifier === within)
    return top === -1 ? null : (chain.slice(top, chain.length - depth).at(-1)?.identifier ?? null)
  }

  nameForOwner({ slug }: Pick<UploadRow, 'slug'>): OwnUploadName {
    return this.#parts.ownNames.of(slug)
  }

  /** Expiry without more bytes. */
  expiresAt({ used_at, received, state }: Pick<UploadRow, 'used_at' | 'received' | 'state'>): number {
    const { aging, emptyAging } = this.#parts
    const end = aging.endOf(used_at)
    return received === 0 && state === 'uploading' ? Math.min(end, emptyAging.endOf(used_at)) : end
  }

  #hasExpired(upload: UploadRow, now: number): boolean {
    // One without a byte expires only by the job: its sender may have sent elsewhere meanwhile.
    return upload.state === 'uploading' && this.#parts.aging.endOf(upload.used_at) <= now
  }

  /** Owner names find account uploads only, which the caller may end anyway. */
  async #named(caller: Caller, name: string): Promise<UploadRow | undefined> {
    const { db, ownNames } = this.#parts
    const slug = ownNames.read(name)
    if (slug === null) return uploadByToken(db, hashToken(name))
    if (caller.kind === 'guest') return undefined
    assertScope(caller, 'manage')
    const upload = await uploadBySlug(db, slug)
    return upload?.account_id === caller.account ? upload : undefined
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

/** Signed names for owners without the token. The link, which owners share, does not lead to one. */
interface OwnUploadNames {
  of(slug: Slug): OwnUploadName
  read(name: string): Slug | null
}

const PURPOSE = 'own upload'

export function createOwnUploadNames(signing: Signing): OwnUploadNames {
  return {
    of: (slug) => signing.sign(PURPOSE, slug) as OwnUploadName,
    read(name) {
      const slug = signing.verify(PURPOSE, name)
      return typeof slug === 'string' && isSlug(slug) ? slug : null
    },
  }
}

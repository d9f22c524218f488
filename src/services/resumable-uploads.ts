import { findFile } from '../database/files.ts'
import { findFolder } from '../database/folders.ts'
import type { Db } from '../database/schema.ts'
import {
  openUploadBySlug,
  openUploads,
  type UploadRow,
  uploadById,
  uploadBySlug,
  uploadByToken,
} from '../database/uploads.ts'
import { type Clock, HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { GUESTS, type OwnUploadName, type Slug, type UploadName, type UploadToken } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { assertScope, type Caller, ownerOf, reachOf } from './caller.ts'
import type { ExpectedChecksum } from './chunk-checksum.ts'
import type { Finishing } from './finishing.ts'
import type { OwnUploadNames } from './own-upload-names.ts'
import { isWithin } from './places.ts'
import type { Receiving } from './receiving.ts'
import { type ByteSource, QUIET_AFTER } from './reception.ts'
import { locked, type Sittings, uploadNotFound } from './sittings.ts'
import type { StoredFile } from './stored-file.ts'
import { hashToken, type NewUpload, type UploadCreation } from './upload-creation.ts'
import { forget } from './upload-endings.ts'
import type { UploadRooms } from './upload-room.ts'

/** An upload that may take any number of requests. Times are milliseconds since the epoch. */
export type ResumableUpload = Pick<
  UploadRow,
  | 'id'
  | 'slug'
  | 'uuid'
  | 'account_id'
  | 'name'
  | 'metadata'
  | 'kind'
  | 'concat'
  | 'size'
  | 'received'
  | 'state'
  | 'created_at'
  | 'used_at'
>

export interface NextBytes {
  readonly offset: number
  /** The size, when this request is the one to declare it. */
  readonly size: number | null
  /** Bytes that the request says it brings. */
  readonly length: number | null
  readonly checksum: ExpectedChecksum | null
  readonly source: ByteSource
}

/**
 * Uploads that go on after a break. Their rows are the only memory: any node may take any request. For callers who may
 * manage the account's things, what `nameForOwner` tells of an upload of theirs is as good as its token.
 */
export interface ResumableUploads {
  /**
   * Starts an upload, with room for all of it. An empty one, and one that is made of parts, is processed at once.
   * Throws Refusal as `Uploads.begin` does, INVALID_NAME, MAX_DEPTH_EXCEEDED, or UPLOAD_NOT_FOUND and OFFSET_CONFLICT
   * for parts that are not there or not whole.
   */
  create(caller: Caller, upload: NewUpload): Promise<{ token: UploadToken; upload: ResumableUpload }>
  /** The upload as it is recorded. Throws Refusal UPLOAD_NOT_FOUND, UPLOAD_GONE, or INVALID_API_KEY. */
  find(caller: Caller, name: UploadName): Promise<ResumableUpload>
  /**
   * The same at rest: no writer is at work whose bytes would still count, so its offset stays true. Of one that is
   * processing, the end is waited for a while. Throws Refusal UPLOAD_LOCKED besides.
   */
  atRest(caller: Caller, name: UploadName): Promise<ResumableUpload>
  /** Adds bytes; all that the answer tells is safe. */
  append(caller: Caller, name: UploadName, bytes: NextBytes): Promise<ResumableUpload>
  /** Ends the upload. Of a completed one the file stays. */
  terminate(caller: Caller, name: UploadName): Promise<void>
  /**
   * Ends the unfinished upload within reach whose link that is, for those who have lost its address. Throws Refusal
   * UPLOAD_NOT_FOUND.
   */
  cancel(reach: Reach, slug: Slug): Promise<void>
  /** The file that a completed upload became. Throws Refusal UPLOAD_GONE when it was deleted, or moved out of reach. */
  result(caller: Caller, upload: ResumableUpload): Promise<StoredFile>
  /** Unfinished ones within reach, oldest first, at most 1,000. */
  list(reach: Reach): Promise<ResumableUpload[]>
  nameForOwner(upload: ResumableUpload): OwnUploadName
  /** The upload within reach whose link that is. */
  bySlug(reach: Reach, slug: Slug): Promise<ResumableUpload | null>
  /** When an upload that gets no more bytes is given up. */
  expiresAt(upload: ResumableUpload): number
}

/** Milliseconds for which a request waits for an upload that is being processed. */
const PROCESSING_PATIENCE = 5000

const MOST_LISTED = 1000

export function createResumableUploads(parts: {
  db: Db
  creation: UploadCreation
  ownNames: OwnUploadNames
  sittings: Sittings
  receiving: Receiving
  finishing: Finishing
  rooms: UploadRooms
  clock: Clock
  expireHours: number
  report: (error: unknown) => void
}): ResumableUploads {
  const { db, creation, ownNames, sittings, receiving, finishing, rooms, clock, report } = parts
  const expiresAt = ({ used_at }: Pick<UploadRow, 'used_at'>) => used_at + parts.expireHours * HOUR

  /** By the name for owners only an account's uploads are found, by whoever may end them anyway. */
  async function named(caller: Caller, name: UploadName): Promise<UploadRow | undefined> {
    const slug = ownNames.read(name)
    if (slug === null) return uploadByToken(db, hashToken(name))
    if (caller.kind === 'guest') return undefined
    assertScope(caller, 'manage')
    const upload = await uploadBySlug(db, slug)
    return upload?.account_id === caller.account ? upload : undefined
  }

  async function authorized(caller: Caller, name: UploadName): Promise<UploadRow> {
    const upload = await named(caller, name)
    if (upload === undefined) throw uploadNotFound()
    if (upload.account_id !== GUESTS) {
      if (caller.kind === 'guest') {
        throw new Refusal(
          'INVALID_API_KEY',
          'This upload was started with an API key and needs one of that account',
        )
      }
      if (caller.account !== upload.account_id) throw uploadNotFound()
      if (!(await isWithin(db, caller, upload.folder_id))) throw uploadNotFound()
    }
    return upload
  }

  /** Also of guests' parts: the room of a part becomes that of the whole, and is the same account's before and after. */
  async function ownPart(caller: Caller, token: UploadToken): Promise<UploadRow> {
    const part = await authorized(caller, token)
    if (part.account_id !== ownerOf(caller)) throw uploadNotFound()
    return part
  }

  function assertAlive(upload: UploadRow): UploadRow {
    const isOver =
      upload.state === 'failed' || (upload.state === 'uploading' && expiresAt(upload) <= clock.now())
    if (!isOver) return upload
    throw new Refusal('UPLOAD_GONE', 'This upload has expired or failed; start a new one')
  }

  /** Waits for the end of the processing, which goes on when that takes longer. */
  async function processed(upload: UploadRow): Promise<UploadRow> {
    const end = finishing.takeUp(upload).catch((error: unknown) => {
      if (!(error instanceof Refusal)) report(error)
    })
    await Promise.race([end, Bun.sleep(PROCESSING_PATIENCE)])
    return (await uploadById(db, upload.id)) ?? upload
  }

  return {
    expiresAt,

    async create(caller, request) {
      const { content } = request
      const found =
        content.kind === 'final' ? await Promise.all(content.parts.map((part) => ownPart(caller, part))) : []
      const { token, upload } = await creation.create(caller, request, found)
      return { token, upload: upload.state === 'processing' ? await processed(upload) : upload }
    },

    async find(caller, name) {
      return assertAlive(await authorized(caller, name))
    },

    async atRest(caller, name) {
      const upload = assertAlive(await authorized(caller, name))
      const free = upload.state === 'uploading' ? await sittings.whenFree(upload.id) : upload
      return assertAlive(free.state === 'processing' ? await processed(free) : free)
    },

    async append(caller, name, bytes) {
      const found = assertAlive(await authorized(caller, name))
      if (found.kind === 'final') {
        throw new Refusal('UPLOAD_IS_FINAL', 'This upload is made of parts and takes no bytes')
      }
      // What is recorded only grows, so this needs nobody's turn.
      if (bytes.offset < found.received) throw conflict(found)
      const upload = assertAlive(found.state === 'uploading' ? await sittings.whenFree(found.id) : found)
      if (bytes.offset !== upload.received) throw conflict(upload)
      if (bytes.size !== null && upload.size !== null && bytes.size !== upload.size) {
        throw new Refusal(
          'INVALID_REQUEST',
          `The size of this upload is ${upload.size} bytes and cannot be changed`,
        )
      }
      creation.assertSize(bytes.size ?? 0)
      const size = upload.size ?? bytes.size
      if (size !== null && bytes.offset + (bytes.length ?? 0) > size) throw tooLong({ size })
      const { source } = bytes
      if (upload.state !== 'uploading') {
        if (!(await source.read()).done) throw tooLong(upload)
        return upload.state === 'processing' ? processed(upload) : upload
      }
      const interruptible = {
        isIdle: () => source.quietFor() >= QUIET_AFTER,
        stop: () => source.end(locked()),
      }
      await sittings.run(upload, interruptible, async (sitting) => {
        const isNew = upload.size === null && size !== null
        const sized = isNew
          ? { ...upload, size, reserved: await rooms.declareSize(caller, upload, size) }
          : upload
        await receiving.receive(sized, sitting, { caller, source, checksum: bytes.checksum })
      })
      return (await uploadById(db, upload.id)) ?? upload
    },

    async terminate(caller, name) {
      const upload = await authorized(caller, name)
      await sittings.stop(upload.id)
      await forget(db, upload, clock.now())
    },

    async cancel(reach, slug) {
      const upload = await openUploadBySlug(db, reach.account, slug)
      if (upload === undefined || !(await isWithin(db, reach, upload.folder_id))) throw uploadNotFound()
      await sittings.stop(upload.id)
      await forget(db, upload, clock.now())
    },

    async result(caller, { uuid }) {
      const file = await findFile(db, { kind: 'uuid', uuid })
      const isThere =
        file !== undefined &&
        (file.account_id === GUESTS || (await isWithin(db, reachOf(caller), file.folder_id)))
      if (!isThere) throw new Refusal('UPLOAD_GONE', 'The file that was uploaded here has been deleted')
      return file
    },

    nameForOwner: ({ slug }) => ownNames.of(slug),

    async list(reach) {
      const { account, within } = reach
      if (within === null) return openUploads(db, account, null, MOST_LISTED)
      const top = await findFolder(db, within)
      return top === undefined ? [] : openUploads(db, account, top.id, MOST_LISTED)
    },

    async bySlug(reach, slug) {
      const upload = await uploadBySlug(db, slug)
      if (upload?.account_id !== reach.account) return null
      return (await isWithin(db, reach, upload.folder_id)) ? upload : null
    },
  }
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

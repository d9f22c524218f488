import { assertSize, type BlobStore, isLost, type ResumableWriter } from '../blobs/blob-store.ts'
import { lockAccount } from '../database/differences.ts'
import { findFile } from '../database/files.ts'
import { nodeExists } from '../database/nodes.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { endUpload } from '../database/upload-ends.ts'
import { completePart } from '../database/upload-parts.ts'
import { unfinishedProcessing } from '../database/upload-sittings.ts'
import { type UploadRow, uploadById } from '../database/uploads.ts'
import type { Clock } from '../domain/clock.ts'
import { type ErrorCode, Refusal } from '../domain/errors.ts'
import type { BlobKey, UploadId } from '../domain/ids.ts'
import { mediaType } from '../domain/media-type.ts'
import { blobBytes } from './blob-bytes.ts'
import type { ContentHashing } from './content-hash.ts'
import type { Digest } from './content-hash-messages.ts'
import { HEAD_LENGTH } from './file-head.ts'
import { Intake } from './intake.ts'
import type { Joining } from './joining.ts'
import type { Nodes } from './nodes.ts'
import { interrupted, type Rooms } from './room.ts'
import type { Sitting, Sittings } from './sittings.ts'
import type { StoreHealth } from './store-health.ts'
import { insertStoredFile } from './stored-file.ts'
import type { ThumbnailIntake } from './thumbnails.ts'
import { endParts, giveUp } from './upload-endings.ts'

/** Makes files of uploads whose bytes are all here. */
export interface Finishing {
  /**
   * Makes the file, within the sitting that brought the last byte. Without the digest of all the bytes, they are read back.
   * Returns once bytes and row would survive a power cut. Throws Refusal when it will never be a file, which ends it.
   */
  finish(upload: UploadRow, sitting: Sitting, writer: ResumableWriter, digest: Digest | null): Promise<void>
  /** Goes on where a sitting has left an upload that is processing. Does nothing while somebody is at it. */
  takeUp(upload: UploadRow): Promise<void>
  /** The same for all of them that are nobody's. */
  takeUpAll(mayGoOn?: () => boolean): Promise<void>
}

const always = () => true
const STEP = 20

/** Nothing is being received, so there is nothing to stop. */
const uninterrupted = { isIdle: () => false, stop() {} }

export function createFinishing(parts: {
  db: Db
  blobs: BlobStore
  health: StoreHealth
  hashing: ContentHashing
  sittings: Sittings
  joining: Joining
  rooms: Rooms
  nodes: Nodes
  thumbnails: ThumbnailIntake
  clock: Clock
  /** Told of every file that is made. */
  uploaded: () => void
  report: (error: unknown) => void
}): Finishing {
  const { db, blobs, health, hashing, sittings, joining, rooms, nodes, thumbnails, clock, uploaded, report } =
    parts

  async function readBack(upload: WholeUpload, sitting: Sitting): Promise<Digest> {
    const hash = hashing.start()
    const intake = new Intake({ hashing, hash, store: async () => {}, from: 0 })
    try {
      for await (const chunk of blobBytes(blobs, upload.key, upload.size)) {
        sitting.assertOurs()
        await intake.write(chunk)
      }
      return await intake.end()
    } finally {
      await intake.rest()
      hash.drop()
    }
  }

  async function head(upload: WholeUpload): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    const length = Math.min(upload.size, HEAD_LENGTH)
    for await (const piece of blobBytes(blobs, upload.key, upload.size, length))
      pieces.push(Buffer.from(piece))
    return Buffer.concat(pieces)
  }

  /** Bytes are whole and hashed: the row of the file comes in, and the upload ends. */
  async function commit(upload: WholeUpload, sitting: Sitting, digest: Digest): Promise<void> {
    const beginning = await head(upload)
    const type = await mediaType(upload.name, upload.declared_type, beginning)
    const mayHaveThumbnail = thumbnails.mayHaveOne(beginning)
    const { account_id: account, folder_id: folder } = upload
    sitting.assertOurs()
    // Another upload's failed sync puts in doubt what the store has said of this one.
    health.assertUsable()
    const store = async (trx: Db) => {
      await lockAccount(trx, account)
      const now = clock.now()
      const file = { ...upload, account, folder, digest, type, mayHaveThumbnail }
      const file_id = await insertStoredFile(trx, thumbnails, file, now)
      const end = { ended_at: now, state: 'completed', file_id, received: upload.size } as const
      if ((await endUpload(trx, upload, end, { sitting: sitting.number })) === null) throw interrupted()
      await endParts(trx, upload, { ended_at: now, state: 'completed' })
    }
    const find = async () => {
      const row = await findFile(db, { kind: 'uuid', uuid: upload.uuid })
      return row === undefined ? null : { value: undefined }
    }
    await inTransaction(db, store, find)
    sitting.released()
    uploaded()
    if (mayHaveThumbnail === true) thumbnails.wake()
  }

  async function complete(
    upload: WholeUpload,
    sitting: Sitting,
    writer: ResumableWriter,
    digest: Digest | null,
  ): Promise<void> {
    sitting.assertOurs()
    assertSize(upload.key, await writer.complete(), upload.size)
    health.assertUsable()
    if (upload.kind !== 'partial') {
      await commit(upload, sitting, digest ?? (await readBack(upload, sitting)))
      return
    }
    if (!(await completePart(db, upload.id, sitting.number, upload.size))) throw interrupted()
    sitting.released()
  }

  /** What is recorded of an upload that is processing, made whole in the store. */
  async function resume(upload: WholeUpload): Promise<ResumableWriter> {
    const { key, progress, received } = upload
    if (progress === null) await blobs.remove(key)
    return blobs.resume(key, progress === null ? null : { offset: received, progress })
  }

  async function goOn(upload: WholeUpload, sitting: Sitting): Promise<void> {
    if (upload.kind === 'final') {
      // The parts have their room; for as long as they are copied the disk has to hold both.
      const joined = await rooms.withFreeSpace(upload.account_id, upload.size, (wrote) =>
        joining.join(upload, sitting, wrote),
      )
      return commit({ ...upload, key: joined.key }, sitting, joined.digest).catch(async (error: unknown) => {
        await joining.discard(upload, joined.key).catch(report)
        throw error
      })
    }
    const writer = await resume(upload)
    try {
      await complete(upload, sitting, writer, null)
    } finally {
      await writer.close()
    }
  }

  /** Runs what makes the file. What can never succeed ends the upload. */
  async function orGiveUp(upload: UploadRow, work: (whole: WholeUpload) => Promise<void>): Promise<void> {
    const { size } = upload
    if (size === null) throw new Error(`upload ${upload.id} is whole and has no size`)
    try {
      await work({ ...upload, size })
    } catch (error) {
      const failure = finalFailure(error)
      if (failure === null) throw health.refusalFor(error)
      if (isLost(error)) report(new Error(`the bytes of upload ${upload.slug} are lost`, { cause: error }))
      await giveUp(db, upload, failure.code, clock.now())
      throw failure
    }
  }

  const finishing: Finishing = {
    finish: (upload, sitting, writer, digest) =>
      orGiveUp(upload, (whole) => complete(whole, sitting, writer, digest)),

    async takeUp(upload) {
      const { id, node } = upload
      if (sittings.isRunning(id)) return
      if (node !== null && node !== nodes.id() && (await nodeExists(db, node))) return
      await sittings.run(upload, uninterrupted, (sitting) =>
        orGiveUp(upload, (whole) => goOn(whole, sitting)),
      )
    },

    async takeUpAll(mayGoOn = always) {
      const tried = new Set<UploadId>()
      while (mayGoOn()) {
        const uploads = await unfinishedProcessing(db, nodes.id(), STEP)
        const fresh = uploads.filter(({ id }) => !tried.has(id) && !sittings.isRunning(id))
        if (fresh.length === 0) return
        for (const { id } of fresh) {
          tried.add(id)
          const upload = await uploadById(db, id)
          if (upload?.state !== 'processing' || !mayGoOn()) continue
          await finishing.takeUp(upload).catch((error: unknown) => {
            if (!(error instanceof Refusal) || error.code !== 'UPLOAD_LOCKED') report(error)
          })
        }
      }
    },
  }
  return finishing
}

type WholeUpload = UploadRow & { readonly size: number; readonly key: BlobKey }

const FINAL: readonly ErrorCode[] = ['FOLDER_NOT_FOUND', 'CONTENT_REFUSED']

/** What the sender is told of an upload that no further try will finish; null for what passes. */
function finalFailure(error: unknown): Refusal | null {
  if (isLost(error)) return bytesLost(error)
  return error instanceof Refusal && FINAL.includes(error.code) ? error : null
}

export function bytesLost(cause: unknown): Refusal {
  return new Refusal('UPLOAD_GONE', 'What was sent of this upload is lost; start it again', undefined, {
    cause,
  })
}

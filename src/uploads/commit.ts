import { changeTotals } from '../core/accounts.rows.ts'
import { adoptBlob, GARBAGE_GRACE } from '../core/blobs.rows.ts'
import { noteChange } from '../core/changes.rows.ts'
import type { StoreHealth } from '../core/store/store-health.ts'
import { noteThumbnail, turnOf } from '../core/thumbnails.rows.ts'
import type { Database, Trx } from '../database/database.ts'
import { isPostgres } from '../database/dialect.ts'
import { isUniqueViolation, lockForUpload } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import { foldName } from '../domain/folded-name.ts'
import type { AccountId, BlobKey, FileId, FolderId, Sha256, Slug, Uuid } from '../domain/ids.ts'
import { mediaType } from '../domain/media-type.ts'
import { makeSlug, makeUuid, type Random } from '../domain/random.ts'
import { findFile, insertFile } from '../files/files.rows.ts'
import { changeFiles } from '../files/folders/folders.rows.ts'
import { assertFolderExists, folderNotFound } from '../files/folders/places.ts'
import type { ThumbnailQueue } from '../thumbnails/thumbnails.ts'
import { CommitBatcher } from './commit-batcher.ts'
import type { Digest } from './hashing/content-hash-messages.ts'
import { type KeyNote, setKeyResult } from './idempotency-keys.rows.ts'
import { uploadInterrupted } from './interrupted.ts'
import { assertNotRefused, contentRefused } from './refused-content.ts'
import { limitOf, type StorageLimits, storageFull } from './storage-limits.ts'
import { type NewRows, type StoringResult, storingStatement } from './stored-files.rows.ts'

export interface StoredFile {
  readonly id: FileId
  readonly uuid: Uuid
  readonly slug: Slug
  readonly size: number
  readonly sha256: Sha256
}

export interface CompleteUpload {
  readonly account: AccountId
  /** HMAC of a guest's address. */
  readonly address: string | null
  readonly folder: FolderId
  readonly key: BlobKey
  readonly digest: Digest
  readonly size: number
  readonly head: Uint8Array
  readonly name: string
  readonly declaredType: string | null
  readonly link: FileLink | null
  readonly note: KeyNote | null
}

export interface FileLink {
  readonly uuid: Uuid
  readonly slug: Slug
}

/** Ends the reservation or upload in the transaction that stores the file. */
export type Settle = (trx: Trx, file: StoredFile) => Promise<void>

const MOST_DRAWS = 5

export class FileCommit {
  readonly #db: Database
  readonly #health: StoreHealth
  readonly #thumbnails: ThumbnailQueue
  readonly #clock: Clock
  readonly #random: Random
  readonly #limits: StorageLimits
  readonly #uploaded: () => void
  /** PostgreSQL only. */
  readonly #batcher: CommitBatcher | null

  constructor(parts: {
    db: Database
    health: StoreHealth
    thumbnails: ThumbnailQueue
    clock: Clock
    random: Random
    limits: StorageLimits
    uploaded: () => void
  }) {
    this.#db = parts.db
    this.#health = parts.health
    this.#thumbnails = parts.thumbnails
    this.#clock = parts.clock
    this.#random = parts.random
    this.#limits = parts.limits
    this.#uploaded = parts.uploaded
    this.#batcher = parts.db.pipeline === null ? null : new CommitBatcher(parts.db, parts.db.pipeline)
  }

  /**
   * Returns once the row and the effects of `settle` would survive a power cut. Throws Refusal FOLDER_NOT_FOUND,
   * CONTENT_REFUSED, STORAGE_UNAVAILABLE, STORAGE_LIMIT_EXCEEDED, or what `settle` throws; nothing is stored then.
   */
  async commit(upload: CompleteUpload, settle: Settle, isOnlyReservation = false): Promise<StoredFile> {
    const type = await mediaType(upload.name, upload.declaredType, upload.head)
    const mayHaveThumbnail = this.#thumbnails.mayHaveOne(upload.head)
    // Another upload's failed sync puts the store's word on this one in doubt.
    this.#health.assertUsable()
    const described = { ...upload, type, mayHaveThumbnail, isOnlyReservation }
    const file = await (upload.link === null
      ? this.#storeUnderFreeLink(described, settle)
      : this.#store(described, upload.link, settle))
    this.#uploaded()
    if (mayHaveThumbnail === true) this.#thumbnails.wake()
    return file
  }

  /** Slugs and UUIDs are random: a taken one is drawn again. */
  async #storeUnderFreeLink(upload: DescribedUpload, settle: Settle): Promise<StoredFile> {
    for (let draws = 1; ; draws++) {
      try {
        const link = { uuid: makeUuid(this.#random), slug: makeSlug(this.#random) }
        return await this.#store(upload, link, settle)
      } catch (error) {
        if (!isUniqueViolation(error) || draws === MOST_DRAWS) throw error
      }
    }
  }

  async #store(upload: DescribedUpload, link: FileLink, settle: Settle): Promise<StoredFile> {
    const { size, digest } = upload
    const { uuid, slug } = link
    const storedAs = (id: FileId): StoredFile => ({ id, uuid, slug, size, sha256: digest.sha256 })
    const rows = this.#rows(upload, link)
    if (upload.isOnlyReservation && this.#batcher !== null) {
      const result = await this.#batcher.store(rows)
      if (result.isFull) throw await storageFull(this.#db, upload.account, this.#limits)
      return storedAs(storedId(result))
    }
    const insert = isPostgres(this.#db) ? insertAtOnce : insertInSteps
    const store = async (trx: Trx) => {
      await lockForUpload(trx, upload.account, upload.digest.sha256)
      const file = storedAs(await insert(trx, rows))
      await settle(trx, file)
      if (upload.note !== null) await recordNote(trx, upload.note, file)
      return file
    }
    const findCommitted = async () => {
      const row = await findFile(this.#db, { kind: 'uuid', uuid })
      return row === undefined ? null : { value: storedAs(row.id) }
    }
    return inTransaction(this.#db, store, findCommitted)
  }

  #rows(upload: DescribedUpload, link: FileLink): NewRows {
    const { account, address, folder, key, digest, size, name, mayHaveThumbnail } = upload
    const now = this.#clock.now()
    const file = {
      ...link,
      account_id: account,
      folder_id: folder,
      name,
      name_folded: foldName(name),
      size,
      type: upload.type,
      created_at: now,
      last_used_at: now,
    }
    const blob = { key, ...digest, size, created_at: now }
    const state = mayHaveThumbnail === true ? ('wanted' as const) : ('none' as const)
    const thumbnail = mayHaveThumbnail === null ? null : { state, turn: turnOf(account, address) }
    const storageLimit = limitOf(account, this.#limits)
    return { file, blob, thumbnail, garbageDueAt: now + GARBAGE_GRACE, storageLimit, note: upload.note }
  }
}

async function insertInSteps(trx: Trx, { file, blob, thumbnail, garbageDueAt }: NewRows): Promise<FileId> {
  const { account_id: account, folder_id: folder, size, created_at: now } = file
  await assertFolderExists(trx, folder)
  await assertNotRefused(trx, blob.sha256)
  const blob_id = await adoptBlob(trx, blob, garbageDueAt)
  if (thumbnail !== null) await noteThumbnail(trx, blob_id, thumbnail, now)
  const id = await insertFile(trx, { ...file, blob_id })
  await changeTotals(trx, account, { storage: size, files: 1 })
  await changeFiles(trx, folder, 1, size)
  await noteChange(trx, account, { kind: 'file.added', file: id, place: folder })
  return id
}

async function insertAtOnce(trx: Trx, rows: NewRows): Promise<FileId> {
  const [result] = (await trx.executeQuery(storingStatement(trx, rows, null))).rows
  if (result === undefined) throw new Error('storing a file has a result')
  return storedId(result)
}

/** Throws Refusal STORAGE_UNAVAILABLE when the key was taken from the node. */
async function recordNote(trx: Trx, note: KeyNote, { id, ...file }: StoredFile): Promise<void> {
  const { before, after } = note.around(file)
  if (!(await setKeyResult(trx, note, note.node, `${before}${id}${after}`))) throw uploadInterrupted()
}

function storedId({ id, isFolderGone, isRefused }: StoringResult): FileId {
  if (isFolderGone) throw folderNotFound()
  if (isRefused) throw contentRefused()
  if (id === null) throw uploadInterrupted()
  return id
}

interface DescribedUpload extends CompleteUpload {
  readonly type: string
  readonly mayHaveThumbnail: boolean | null
  readonly isOnlyReservation: boolean
}

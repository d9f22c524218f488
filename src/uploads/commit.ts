import { changeTotals } from '../core/accounts.rows.ts'
import { adoptBlob, GARBAGE_GRACE } from '../core/blobs.rows.ts'
import { noteChange } from '../core/changes.rows.ts'
import { endReservation } from '../core/reservations.rows.ts'
import type { StoreHealth } from '../core/store/store-health.ts'
import { noteThumbnail, turnOf } from '../core/thumbnails.rows.ts'
import { Batcher } from '../database/batcher.ts'
import { type Database, isPostgres, type StatementPipeline, type Trx } from '../database/database.ts'
import {
  isDatabaseFailure,
  isUniqueViolation,
  lockAccount,
  lockForUpload,
  lockingForUploads,
} from '../database/differences.ts'
import { inTransaction, type OutcomeSearch, outcomeSearch } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import type { AccountId, BlobKey, FileId, FolderId, Sha256, Slug, Uuid } from '../domain/ids.ts'
import { mediaType } from '../domain/media-type.ts'
import { makeSlug, makeUuid, type Random } from '../domain/random.ts'
import { foldName } from '../domain/sort-key.ts'
import { findFile, insertFile } from '../files/files.ts'
import { changeFiles } from '../files/folders/folders.rows.ts'
import { assertFolderExists, folderNotFound } from '../files/folders/places.ts'
import type { ThumbnailQueue } from '../thumbnails/thumbnails.ts'
import type { Digest } from './hashing/content-hash-messages.ts'
import { type KeyNote, setKeyResult } from './idempotency-keys.rows.ts'
import { assertNotRefused, contentRefused, uploadInterrupted } from './refusals.ts'
import { limitOf, type StorageLimits, storageFull } from './reservation.ts'
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

type Ending =
  | { readonly result: StoringResult }
  /** With a search the file may be stored all the same. */
  | { readonly error: unknown; readonly search: OutcomeSearch | null }

interface Lane {
  readonly batcher: Batcher<NewRows, Ending>
  waiting: number
}

/**
 * Stores an account's files whose commit only ends their reservation, in one transaction: they would wait for its row.
 * The reservation resolves a commit whose answer was lost: only storing removes it and inserts the file's row.
 */
export class CommitBatcher {
  readonly #db: Database
  readonly #pipeline: StatementPipeline
  readonly #lanes = new Map<AccountId, Lane>()

  constructor(db: Database, pipeline: StatementPipeline) {
    this.#db = db
    this.#pipeline = pipeline
  }

  /** Returns once the rows would survive a power cut, or nothing is stored. Throws as `storingStatement`. */
  async store(rows: NewRows): Promise<StoringResult> {
    const ending = await this.#ending(rows)
    if ('result' in ending) return ending.result
    const id = ending.search === null ? null : await this.#lookUp(rows, ending.search)
    if (id === null) throw ending.error
    return { id, isFolderGone: false, isRefused: false, isFull: false }
  }

  async #ending(rows: NewRows): Promise<Ending> {
    const { account_id: account } = rows.file
    const lane = this.#lanes.get(account) ?? {
      batcher: new Batcher((all: readonly NewRows[]) => this.#storeAll(account, all)),
      waiting: 0,
    }
    this.#lanes.set(account, lane)
    lane.waiting++
    try {
      return await lane.batcher.ask(rows)
    } finally {
      if (--lane.waiting === 0) this.#lanes.delete(account)
    }
  }

  async #storeAll(account: AccountId, all: readonly NewRows[]): Promise<readonly Ending[]> {
    const contents = all.map(({ blob }) => blob.sha256)
    const statements = all.map((rows) => storingStatement(this.#db, rows, rows.blob.key))
    let search: OutcomeSearch | null = null
    try {
      const before = [lockingForUploads(this.#db, account, contents)]
      const found = await this.#pipeline(before, statements, () => {
        search = outcomeSearch()
      })
      return found.map(([result]) => {
        if (result === undefined) throw new Error('storing a file has a result')
        return { result }
      })
    } catch (error) {
      if (isDatabaseFailure(error)) return all.map(() => ({ error, search }))
      if (all.length === 1) return all.map(() => ({ error, search: null }))
      // One that cannot be stored must not keep the others from it.
      const endings: Ending[] = []
      for (const one of all) endings.push(...(await this.#storeAll(account, [one])))
      return endings
    }
  }

  /** The file's id, if it was stored; else from now on it will not be. Throws OutcomeUnknown. */
  async #lookUp({ file, blob }: NewRows, search: OutcomeSearch): Promise<FileId | null> {
    return search(async () => {
      const isOpen = await inTransaction(this.#db, async (trx) => {
        // Waits for a transaction under way.
        await lockAccount(trx, file.account_id)
        return endReservation(trx, blob.key)
      })
      if (isOpen) return null
      return (await findFile(this.#db, { kind: 'uuid', uuid: file.uuid }))?.id ?? null
    })
  }
}

import { changeTotals } from '../core/accounts.rows.ts'
import { adoptBlobs, GARBAGE_GRACE, type NewBlob } from '../core/blobs.rows.ts'
import { noteChange } from '../core/changes.rows.ts'
import { endReservations } from '../core/reservations.rows.ts'
import type { StoreHealth } from '../core/store/store-health.ts'
import { noteThumbnails, turnOf } from '../core/thumbnails.rows.ts'
import type { Database, Trx } from '../database/database.ts'
import { isUniqueViolation, lockForUploads } from '../database/differences.ts'
import type { NewFile } from '../database/schema.ts'
import { SharedTransactions, together } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import type { AccountId, BlobKey, FileId, FolderId, Sha256, Slug, Uuid } from '../domain/ids.ts'
import { mediaType } from '../domain/media-type.ts'
import { makeSlug, makeUuid, type Random } from '../domain/random.ts'
import { foldName } from '../domain/sort-key.ts'
import { findFile, insertFiles } from '../files/files.ts'
import { changeFiles } from '../files/folders/folders.rows.ts'
import { livingChain, transferIn } from '../files/folders/places.ts'
import { noteArrival } from '../files/transfers.rows.ts'
import type { ThumbnailQueue } from '../thumbnails/thumbnails.ts'
import type { Digest } from './hashing/content-hash-messages.ts'
import { assertNotRefused, uploadInterrupted } from './refusals.ts'
import { assertFits, type ReservedBytes, type StorageLimits } from './reservations.ts'

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
  readonly reserved: ReservedBytes
}

export interface FileLink {
  readonly uuid: Uuid
  readonly slug: Slug
}

/** Further changes in the transaction that stores the file. */
export type Alongside = (trx: Trx, file: StoredFile) => Promise<void>

interface NewRows {
  readonly file: Omit<NewFile, 'blob_id'>
  readonly blob: NewBlob
  /** Initial state of the thumbnail; null where none are made. */
  readonly thumbnail: { readonly state: 'wanted' | 'none'; readonly turn: number } | null
  readonly reserved: ReservedBytes
  readonly alongside: Alongside | null
}

const MOST_DRAWS = 5

/** The only way by which uploads, of every kind, become files. */
export class FileCommit {
  readonly #db: Database
  readonly #health: StoreHealth
  readonly #thumbnails: ThumbnailQueue
  readonly #clock: Clock
  readonly #random: Random
  readonly #limits: StorageLimits
  readonly #uploaded: () => void
  readonly #transactions: SharedTransactions<NewRows, StoredFile>

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
    this.#transactions = new SharedTransactions(parts.db, (trx, all) => this.#storeAll(trx, all))
  }

  /**
   * Returns once the row and the effects of `alongside` would survive a power cut. Throws Refusal FOLDER_NOT_FOUND,
   * CONTENT_REFUSED, LINK_USED_UP, STORAGE_UNAVAILABLE, STORAGE_LIMIT_EXCEEDED, or what `alongside` throws; nothing is stored then.
   * `isAlone`: `alongside` reads rows that other commits of the account change.
   */
  async commit(
    upload: CompleteUpload,
    { alongside = null, isAlone = false }: { alongside?: Alongside | null; isAlone?: boolean } = {},
  ): Promise<StoredFile> {
    const type = await mediaType(upload.name, upload.declaredType, upload.head)
    const mayHaveThumbnail = this.#thumbnails.mayHaveOne(upload.head)
    // Another upload's failed sync puts the store's word on this one in doubt.
    this.#health.assertUsable()
    const state = mayHaveThumbnail === true ? ('wanted' as const) : ('none' as const)
    const thumbnail =
      mayHaveThumbnail === null ? null : { state, turn: turnOf(upload.account, upload.address) }
    const store = async (link: FileLink): Promise<StoredFile> => {
      const rows = { ...this.#newRows(upload, link, type), thumbnail, alongside }
      const find = async () => {
        const row = await findFile(this.#db, { kind: 'uuid', uuid: link.uuid })
        return row === undefined ? null : { value: storedAs(rows, row.id) }
      }
      return isAlone
        ? this.#transactions.runAlone(rows, find)
        : this.#transactions.run(upload.account, rows, find)
    }
    const file = await (upload.link === null ? this.#underFreeLink(store) : store(upload.link))
    this.#uploaded()
    if (mayHaveThumbnail === true) this.#thumbnails.wake()
    return file
  }

  /** Slugs and UUIDs are random: a taken one is drawn again. So is one whose content was stored at the same time. */
  async #underFreeLink(store: (link: FileLink) => Promise<StoredFile>): Promise<StoredFile> {
    for (let draws = 1; ; draws++) {
      try {
        return await store({ uuid: makeUuid(this.#random), slug: makeSlug(this.#random) })
      } catch (error) {
        if (!isUniqueViolation(error) || draws === MOST_DRAWS) throw error
      }
    }
  }

  #newRows(
    upload: CompleteUpload,
    link: FileLink,
    type: string,
  ): Pick<NewRows, 'file' | 'blob' | 'reserved'> {
    const { account, folder, key, digest, size, name, reserved } = upload
    const now = this.#clock.now()
    const file = {
      ...link,
      account_id: account,
      folder_id: folder,
      name,
      name_folded: foldName(name),
      size,
      type,
      created_at: now,
      last_used_at: now,
    }
    return { file, blob: { key, ...digest, size, created_at: now }, reserved }
  }

  /**
   * Stores files of one account. A blob of equal content has its copy replaced. Throws a unique violation when a slug,
   * UUID or content is taken.
   */
  async #storeAll(trx: Trx, all: readonly NewRows[]): Promise<readonly StoredFile[]> {
    const [first] = all
    if (first === undefined) return []
    const { account_id: account, created_at: now } = first.file
    const blobs = all.map(({ blob }) => blob)
    const contents = blobs.map(({ sha256 }) => sha256)
    const reservations = all.filter(({ reserved }) => reserved.hasRow).map(({ blob }) => blob.key)
    const folders = [...Map.groupBy(all, ({ file }) => file.folder_id)]
    const bytesOf = (some: readonly NewRows[]) => some.reduce((sum, { file }) => sum + file.size, 0)

    const [, chains, , ids, isReserved] = await together(
      lockForUploads(trx, account, contents),
      together(...folders.map(([folder]) => livingChain(trx, folder))),
      assertNotRefused(trx, ...contents),
      adoptBlobs(trx, blobs, now + GARBAGE_GRACE),
      endReservations(trx, ...reservations),
      changeTotals(trx, account, { storage: bytesOf(all), files: all.length }),
      ...folders.map(([folder, some]) => changeFiles(trx, folder, some.length, bytesOf(some))),
    )
    // Another node took this one for dead.
    if (!isReserved) throw uploadInterrupted()

    const blobOf = ({ blob }: NewRows) => present(ids.get(blob.key))
    const [files] = await together(
      insertFiles(
        trx,
        all.map((rows) => ({ ...rows.file, blob_id: blobOf(rows) })),
      ),
      noteThumbnails(
        trx,
        all.flatMap((rows) =>
          rows.thumbnail === null ? [] : { blob_id: blobOf(rows), ...rows.thumbnail, due_at: now },
        ),
      ),
    )

    for (const [at, [, some]] of folders.entries()) {
      const transfer = transferIn(chains[at] ?? [])
      if (transfer !== null)
        await noteArrival(trx, transfer, { files: some.length, bytes: bytesOf(some), at: now })
    }

    const stored = all.map((rows) => storedAs(rows, present(files.get(rows.file.uuid))))
    await together(
      noteChange(
        trx,
        account,
        ...all.map(({ file }) => ({
          kind: 'file.added' as const,
          file: present(files.get(file.uuid)),
          place: file.folder_id,
        })),
      ),
      ...all.map(async ({ alongside }, at) => alongside?.(trx, present(stored[at]))),
      all.every(({ reserved }) => reserved.isCounted)
        ? Promise.resolve()
        : // By now the files are counted, and their reservations are not.
          assertFits(trx, account, 0, this.#limits),
    )
    return stored
  }
}

function storedAs({ file: { uuid, slug, size }, blob: { sha256 } }: NewRows, id: FileId): StoredFile {
  return { id, uuid, slug, size, sha256 }
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a new row has no id')
  return value
}

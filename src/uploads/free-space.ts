import type { BlobStore } from '../blobs/blob-store.ts'
import { unavailable } from '../core/store/store-health.ts'
import type { Database } from '../database/database.ts'
import { type AccountId, GUESTS } from '../domain/ids.ts'
import { assertInvariant } from '../domain/invariants.ts'
import { unwrittenBytes } from './uploads.rows.ts'

/** How many times the floor of free space has to be left for guests' uploads: the last of it is for accounts. */
const GUEST_FLOORS = 2

/** The free space of the disk under the bytes, less what uploads under way were promised of it. */
export class FreeSpace {
  readonly #db: Database
  readonly #blobs: Pick<BlobStore, 'freeSpace'>
  readonly #databaseSpace: () => Promise<number | null>
  readonly #minFreeSpace: number
  /** Promises to uploads of this process. */
  readonly #promises = new Set<SpaceReservation>()

  /** `databaseSpace`: bytes that the disk under the database has left; null where nobody can tell. */
  constructor(parts: {
    db: Database
    blobs: Pick<BlobStore, 'freeSpace'>
    databaseSpace: () => Promise<number | null>
    minFreeSpace: number
  }) {
    this.#db = parts.db
    this.#blobs = parts.blobs
    this.#databaseSpace = parts.databaseSpace
    this.#minFreeSpace = parts.minFreeSpace
  }

  /** Throws Refusal STORAGE_UNAVAILABLE when so many bytes would take the disk below its floor. */
  async assertFree(account: AccountId, bytes: number): Promise<void> {
    const free = await this.#blobs.freeSpace()
    if (free === null) return this.#assertDatabaseSpace()
    const promised = this.#promised() + (await unwrittenBytes(this.#db))
    const floor = this.#minFreeSpace * (account === GUESTS ? GUEST_FLOORS : 1)
    const left = free - promised - bytes
    if (left < floor) throw unavailable(left < this.#minFreeSpace ? 'full' : 'guests')
  }

  /** A promise of no bytes yet, for uploads of the account. */
  reserve(account: AccountId): SpaceReservation {
    const promise: SpaceReservation = new SpaceReservation(
      (bytes) => this.assertFree(account, bytes),
      () => this.#promises.delete(promise),
    )
    this.#promises.add(promise)
    return promise
  }

  /** Where the bytes lie elsewhere, the rows of files still need the database's own disk. */
  async #assertDatabaseSpace(): Promise<void> {
    const free = await this.#databaseSpace()
    if (free !== null && free < this.#minFreeSpace) throw unavailable('full')
  }

  #promised(): number {
    let sum = 0
    for (const promise of this.#promises) sum += promise.left
    return sum
  }
}

/** Bytes that an upload was promised of the disk and has not written yet. */
export class SpaceReservation {
  readonly #assertFree: (bytes: number) => Promise<void>
  readonly #onEnd: () => void
  #left = 0

  constructor(assertFree: (bytes: number) => Promise<void>, onEnd: () => void) {
    this.#assertFree = assertFree
    this.#onEnd = onEnd
  }

  get left(): number {
    return this.#left
  }

  /** Promises so many bytes more. Throws Refusal STORAGE_UNAVAILABLE, and then promises nothing. */
  async add(bytes: number): Promise<void> {
    await this.#assertFree(bytes)
    this.#left += bytes
  }

  /** Takes bytes back that are not going to be written. */
  withdraw(bytes: number): void {
    this.#take(bytes)
  }

  /** The store has so many bytes more: from now on the disk itself tells of them. */
  wrote(bytes: number): void {
    this.#take(bytes)
  }

  /** Nothing more is written. Harmless when called again. */
  end(): void {
    this.#left = 0
    this.#onEnd()
  }

  #take(bytes: number): void {
    assertInvariant('reservation-not-negative', bytes <= this.#left, () => `${bytes} of ${this.#left} bytes`)
    this.#left -= bytes
  }
}

import type { BlobStore } from '../blobs/blob-store.ts'
import { unavailable } from '../core/store/store-health.ts'
import type { Database } from '../database/database.ts'
import { type AccountId, GUESTS } from '../domain/ids.ts'
import { assertInvariant } from '../domain/invariants.ts'
import { unwrittenBytes } from './uploads.rows.ts'

/** Floors of free space that guests must leave: the last is for accounts. */
const GUEST_FLOORS = 2

/** Subtracts what uploads under way were promised. */
export class FreeSpace {
  readonly #db: Database
  readonly #blobs: Pick<BlobStore, 'freeSpace'>
  readonly #databaseSpace: () => Promise<number | null>
  readonly #minFreeSpace: number
  readonly #promises = new Set<SpaceReservation>()

  /** `databaseSpace`: bytes, if known. */
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

  /** Throws Refusal STORAGE_UNAVAILABLE below the disk's floor. */
  async assertFree(account: AccountId, bytes: number): Promise<void> {
    const free = await this.#blobs.freeSpace()
    if (free === null) return this.#assertDatabaseSpace()
    const promised = this.#promised() + (await unwrittenBytes(this.#db))
    const floor = this.#minFreeSpace * (account === GUESTS ? GUEST_FLOORS : 1)
    const left = free - promised - bytes
    if (left < floor) throw unavailable(left < this.#minFreeSpace ? 'full' : 'guests')
  }

  reserve(account: AccountId): SpaceReservation {
    const promise: SpaceReservation = new SpaceReservation(
      (bytes) => this.assertFree(account, bytes),
      () => this.#promises.delete(promise),
    )
    this.#promises.add(promise)
    return promise
  }

  /** Where the blobs lie elsewhere, rows still need the database's disk. */
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

  /** Throws Refusal STORAGE_UNAVAILABLE, and then promises nothing more. */
  async add(bytes: number): Promise<void> {
    await this.#assertFree(bytes)
    this.#left += bytes
  }

  withdraw(bytes: number): void {
    this.#take(bytes)
  }

  /** Written bytes show in the disk's own free space. */
  wrote(bytes: number): void {
    this.#take(bytes)
  }

  /** Harmless when repeated. */
  end(): void {
    this.#left = 0
    this.#onEnd()
  }

  #take(bytes: number): void {
    assertInvariant('reservation-not-negative', bytes <= this.#left, () => `${bytes} of ${this.#left} bytes`)
    this.#left -= bytes
  }
}

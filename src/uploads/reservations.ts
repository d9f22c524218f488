import type { BlobStore } from '../blobs/blob-store.ts'
import { findAccount } from '../core/accounts.rows.ts'
import { blobExists, discardBlob, recordPooledKeys } from '../core/blobs.rows.ts'
import { ownerOf, type Sender } from '../core/callers.ts'
import type { Nodes } from '../core/nodes/nodes.ts'
import type { RateLimits } from '../core/rate-limits/rate-limits.ts'
import {
  endReservations,
  fitsStorage,
  growReservation,
  insertReservation,
  reserveStorage,
} from '../core/reservations.rows.ts'
import { unavailable } from '../core/store/store-health.ts'
import { type Database, isPostgres, type Queryable, type Trx } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { type AccountId, type BlobKey, type FolderId, GUESTS, type NodeId } from '../domain/ids.ts'
import { assertInvariant } from '../domain/invariants.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import { formatSize } from '../domain/sizes.ts'
import { type GuestBudget, guestBudget } from './guest-admission.ts'
import { uploadInterrupted } from './refusals.ts'
import { unwrittenBytes } from './uploads.rows.ts'

export interface StorageLimits {
  /** Default, in bytes. */
  readonly storageLimit: number
  /** Bytes. */
  readonly guestStorage: number
}

/** Bytes, unless the account has a quota of its own. */
export function limitOf(account: AccountId, limits: StorageLimits): number {
  return account === GUESTS ? limits.guestStorage : limits.storageLimit
}

/** Throws Refusal STORAGE_LIMIT_EXCEEDED, of guests STORAGE_UNAVAILABLE. */
export async function reserveInAccount(
  trx: Trx,
  account: AccountId,
  bytes: number,
  limits: StorageLimits,
): Promise<void> {
  if (await reserveStorage(trx, account, bytes, limitOf(account, limits))) return
  throw await storageFull(trx, account, limits)
}

/** Throws as `reserveInAccount`. Reserves nothing. */
export async function assertFits(
  db: Queryable,
  account: AccountId,
  bytes: number,
  limits: StorageLimits,
): Promise<void> {
  if (await fitsStorage(db, account, bytes, limitOf(account, limits))) return
  throw await storageFull(db, account, limits)
}

export async function storageFull(
  db: Queryable,
  account: AccountId,
  limits: StorageLimits,
): Promise<Refusal> {
  if (account === GUESTS) return unavailable('guests')
  const row = await findAccount(db, account)
  const limit = formatSize(row?.quota ?? limits.storageLimit)
  const held = row?.storage_reserved ?? 0
  const cause = held > 0 ? `, of which uploads under way hold ${formatSize(held)}` : ''
  const remedy = held > 0 ? 'finish or cancel these, or delete something first' : 'delete something first'
  return new Refusal(
    'STORAGE_LIMIT_EXCEEDED',
    `This file does not fit into the ${limit} of this account${cause}; ${remedy}`,
  )
}

export interface ReservationLimits extends StorageLimits {
  readonly guestHourlySize: number
  readonly minFreeSpace: number
}

/**
 * Bytes up to which an upload reserves nothing of its account: it needs space there when it begins, and again when its
 * file is stored. So small uploads of one account do not wait for each other.
 */
const SMALL = 1024 * 1024

/** Reserves of the account, of the disk, and of a guest's hourly budget, before bytes come. */
export class Reservations {
  readonly #parts: RequestReservationParts
  readonly #limits: ReservationLimits

  constructor(parts: {
    db: Database
    blobs: BlobStore
    databaseSpace: () => Promise<number | null>
    rates: RateLimits
    nodes: Nodes
    clock: Clock
    limits: ReservationLimits
    random: Random
    report: (error: unknown) => void
  }) {
    const { db, blobs, clock, limits } = parts
    this.#parts = {
      ...parts,
      recordingIn: blobs.dropsUnfinished ? db.nonDurable : db,
      space: new FreeSpace({ ...parts, minFreeSpace: limits.minFreeSpace }),
      failed: new FailedReservations(db, clock),
      keys: !isPostgres(db) && blobs.dropsUnfinished ? new BlobKeyPool(parts) : null,
    }
    this.#limits = limits
  }

  endFailed(): Promise<void> {
    return this.#parts.failed.endAll()
  }

  /**
   * The work reserves its account's bytes by itself, and must report written bytes, which show in the disk's free
   * space. Throws Refusal STORAGE_UNAVAILABLE.
   */
  async withFreeSpace<T>(
    account: AccountId,
    bytes: number,
    work: (wrote: (bytes: number) => void) => Promise<T>,
  ): Promise<T> {
    const promise = this.#parts.space.reserve(account)
    try {
      await promise.add(bytes)
      return await work((written) => promise.wrote(Math.min(promise.left, written)))
    } finally {
      promise.end()
    }
  }

  /** Refuses what does not fit now, and for a guest also what a later step would refuse. Reserves nothing. */
  async check(caller: Sender, bytes: number): Promise<void> {
    const { db, space, rates } = this.#parts
    const account = ownerOf(caller)
    await space.assertFree(account, bytes)
    await guestBudget(caller, rates, this.#limits.guestHourlySize).check(bytes)
    const row = await findAccount(db, account)
    if (row === undefined) return
    const limit = row.quota ?? limitOf(account, this.#limits)
    // Other uploads count as far as `reserve` needs the bytes at once.
    const first = account === GUESTS ? Math.min(bytes, GUEST_STEP) : bytes
    const isFull = first > 0 && row.storage_used + row.storage_reserved + first > limit
    if (isFull || row.storage_used + bytes > limit) throw await storageFull(db, account, this.#limits)
  }

  /**
   * Reserves `wanted` bytes of an upload, 0 for unknown, or `least` where there are fewer; a guest gets at most one step.
   * A large form, whose file is between the two, reserves nothing until `expect` is told how long its file is: what it
   * held too much could be what another upload lacks. `transfer`: its folder, for one that goes into it. Throws Refusal STORAGE_LIMIT_EXCEEDED, STORAGE_UNAVAILABLE or
   * RATE_LIMITED.
   */
  async reserve(
    caller: Sender,
    least: number,
    wanted: number,
    transfer: FolderId | null = null,
  ): Promise<RequestReservation> {
    // What a later step would refuse.
    if (ownerOf(caller) === GUESTS && least > GUEST_STEP) await this.check(caller, least)
    return RequestReservation.open(this.#parts, caller, { least, wanted, transfer })
  }
}

/** What an upload holds until its file is stored. */
export interface ReservedBytes {
  /** Whether a row of `reservations` ends with the upload; that of a resumable upload is ended by its `Alongside`. */
  readonly hasRow: boolean
  /** Whether the account has reserved all bytes; else it must have space for them when the file is stored. */
  readonly isCounted: boolean
}

interface RequestReservationParts {
  readonly db: Database
  readonly recordingIn: Database
  readonly space: FreeSpace
  readonly failed: FailedReservations
  /** For a database and a store that no other process uses. */
  readonly keys: BlobKeyPool | null
  readonly rates: RateLimits
  readonly nodes: Nodes
  readonly clock: Clock
  readonly random: Random
  readonly limits: StorageLimits & { readonly guestHourlySize: number }
  readonly report: (error: unknown) => void
}

interface WantedReservation {
  readonly least: number
  readonly wanted: number
  readonly transfer: FolderId | null
}

/** Owned by this node; ends with the request. */
export class RequestReservation {
  readonly #parts: RequestReservationParts
  readonly key: BlobKey
  readonly #account: AccountId
  readonly #node: NodeId
  readonly #transfer: FolderId | null
  readonly #budget: GuestBudget
  readonly #space: SpaceReservation
  readonly #growing: Reservation
  readonly #isSmall: boolean
  /** Bytes that the account needs to have when a large form begins, whose file's length is not known yet; else 0. */
  readonly #needed: number
  /** A pooled key is found after a kill without a row. */
  readonly #pool: BlobKeyPool | null
  #isOpen = false
  #hasRow = false

  private constructor(
    parts: RequestReservationParts,
    caller: Sender,
    { least, wanted, transfer }: WantedReservation,
    { key, pool }: { readonly key: BlobKey; readonly pool: BlobKeyPool | null },
  ) {
    this.#parts = parts
    this.key = key
    this.#pool = pool
    this.#account = ownerOf(caller)
    this.#node = parts.nodes.id()
    this.#transfer = transfer
    this.#budget = guestBudget(caller, parts.rates, parts.limits.guestHourlySize)
    this.#space = parts.space.reserve(this.#account)
    this.#isSmall = isSmall(wanted)
    this.#needed = this.#account !== GUESTS && wanted > SMALL && least < wanted ? least : 0
    this.#growing = new Reservation({
      account: this.#account,
      bytes: 0,
      // The declared size may be too little where another part follows the file.
      most: wanted > 0 ? wanted : Number.POSITIVE_INFINITY,
      reserve: (bytes) => this.#reserve(bytes),
    })
  }

  /** As `Reservations.reserve`. */
  static async open(
    parts: RequestReservationParts,
    caller: Sender,
    { least, wanted, transfer }: WantedReservation,
  ): Promise<RequestReservation> {
    // A contributor's row is the place in the link, and one of a transfer says that an upload is under way.
    const needsRow = caller.kind === 'contributor' || transfer !== null
    const pool = isSmall(wanted) && !needsRow ? parts.keys : null
    const key = pool === null ? makeBlobKey(parts.random) : await pool.take()
    const reservation = new RequestReservation(parts, caller, { least, wanted, transfer }, { key, pool })
    const most = Math.max(least, wanted)
    const isGuests = ownerOf(caller) === GUESTS
    const first = isGuests ? Math.min(most, GUEST_STEP) : reservation.#needed > 0 ? 0 : most
    try {
      await reservation.#growing.add(Math.min(least, first), first)
      return reservation
    } catch (error) {
      reservation.#space.end()
      pool?.end(key)
      throw error
    }
  }

  /** Call before the first byte: the file has `most` bytes, 0 for unknown. Throws Refusal as `Reservations.reserve` does. */
  async expect(most: number): Promise<void> {
    if (this.#needed === 0 || most === 0) return
    this.#growing.expect(most)
    await this.#growing.cover(most)
  }

  /** Call before writing. Throws Refusal as `Reservations.reserve` does, and when this node was taken for dead. */
  async cover(bytes: number): Promise<void> {
    if (this.#parts.nodes.id() !== this.#node) throw uploadInterrupted()
    await this.#growing.cover(bytes)
  }

  /** Returns once the row would survive a power cut; only it knows of the bytes of a completed blob. */
  async recorded(): Promise<void> {
    if (this.#pool === null) await this.#parts.db.durable()
  }

  wrote(bytes: number): void {
    this.#space.wrote(bytes)
  }

  /** For the commit. */
  reserved(): ReservedBytes {
    return { hasRow: this.#hasRow, isCounted: !this.#isSmall }
  }

  /** Returns a guest's unused budget once all bytes are here. Never throws. */
  async settle(bytes: number): Promise<void> {
    await this.#budget.settle(bytes)
  }

  /** Call when the file is stored. */
  used(): void {
    this.#close()
    this.#pool?.end(this.key)
  }

  /** Leaves bytes without a row as garbage, now or by `Reservations.endFailed`. Harmless after `used`. */
  async release(): Promise<void> {
    if (!this.#isOpen) return
    const { failed, report } = this.#parts
    this.#close()
    failed.add(this.key, this.#account)
    await this.#budget.settle(0)
    try {
      await failed.end(this.key, this.#account)
      this.#pool?.end(this.key)
    } catch (error) {
      report(error)
    }
  }

  #close(): void {
    this.#isOpen = false
    this.#space.end()
  }

  async #reserve(bytes: number): Promise<void> {
    await this.#space.add(bytes)
    try {
      await this.#budget.spend(bytes, () => this.#record(bytes))
    } catch (error) {
      this.#space.withdraw(bytes)
      throw error
    }
    this.#isOpen = true
  }

  async #record(bytes: number): Promise<void> {
    const { db, recordingIn, limits, failed } = this.#parts
    const isSmall = this.#isSmall && !this.#isOpen
    if (isSmall && this.#pool !== null) return assertFits(db, this.#account, bytes, limits)
    try {
      if (!this.#hasRow) return await this.#insert(isSmall ? 0 : bytes, Math.max(bytes, this.#needed))
      await inTransaction(recordingIn, async (trx) => {
        await reserveInAccount(trx, this.#account, bytes, limits)
        if (!(await growReservation(trx, this.key, bytes))) throw uploadInterrupted()
      })
    } catch (error) {
      // The answer to the commit may have been lost, not the commit.
      if (!this.#hasRow && !(error instanceof Refusal)) failed.add(this.key, this.#account)
      throw error
    }
  }

  async #insert(bytes: number, needed: number): Promise<void> {
    const { recordingIn, clock, limits } = this.#parts
    const { key } = this
    const account = this.#account
    const owned = { key, account_id: account, node: this.#node, transfer: this.#transfer }
    const row = { ...owned, bytes, created_at: clock.now() }
    if (!(await insertReservation(recordingIn, row, needed, limitOf(account, limits)))) {
      throw await storageFull(recordingIn, account, limits)
    }
    this.#hasRow = true
  }
}

function isSmall(wanted: number): boolean {
  return wanted > 0 && wanted <= SMALL
}

const FIRST_STEP = 8 * 1024 * 1024
const LARGEST_STEP = 256 * 1024 * 1024

/** Limits what a guest reserves ahead: it costs the guest nothing and blocks others. */
export const GUEST_STEP = 8 * 1024 * 1024

/** Grows in steps, ahead of the bytes, so that they never pass a limit. */
export class Reservation {
  readonly #account: AccountId
  readonly #reserve: (bytes: number) => Promise<void>
  #most: number
  #bytes: number

  /** `bytes`: reserved already; `most`: limit. `reserve` throws and changes nothing, or adds bytes. */
  constructor(parts: {
    account: AccountId
    bytes: number
    most: number
    reserve: (bytes: number) => Promise<void>
  }) {
    this.#account = parts.account
    this.#most = parts.most
    this.#reserve = parts.reserve
    this.#bytes = parts.bytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Sets the limit of what is reserved ahead. */
  expect(most: number): void {
    this.#most = most
  }

  /** Call before writing. Throws what `reserve` throws. */
  async cover(bytes: number): Promise<void> {
    const missing = bytes - this.#bytes
    if (missing > 0) await this.add(missing, Math.max(missing, this.#nextStep()))
  }

  /** Adds `wanted` bytes, or `least` if there are fewer. */
  async add(least: number, wanted: number): Promise<void> {
    try {
      await this.#add(wanted)
    } catch (error) {
      if (!(error instanceof Refusal) || least >= wanted) throw error
      await this.#add(least)
    }
  }

  async #add(bytes: number): Promise<void> {
    await this.#reserve(bytes)
    this.#bytes += bytes
  }

  #nextStep(): number {
    const step =
      this.#account === GUESTS ? GUEST_STEP : Math.min(LARGEST_STEP, Math.max(FIRST_STEP, this.#bytes))
    return Math.min(step, Math.max(0, this.#most - this.#bytes))
  }
}

class FailedReservations {
  readonly #db: Database
  readonly #clock: Clock
  readonly #pending = new Map<BlobKey, AccountId>()

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  add(key: BlobKey, account: AccountId): void {
    this.#pending.set(key, account)
  }

  /** Leaves bytes without a row as garbage. */
  async end(key: BlobKey, account: AccountId): Promise<void> {
    await inTransaction(this.#db, async (trx) => {
      // Waits for a transaction of unknown outcome.
      await lockAccount(trx, account)
      await endReservations(trx, key)
      // Completed bytes without a row are named nowhere else.
      if (!(await blobExists(trx, key))) await discardBlob(trx, key, this.#clock.now())
    })
    this.#pending.delete(key)
  }

  async endAll(): Promise<void> {
    for (const [key, account] of this.#pending) await this.end(key, account)
  }
}

const BATCH = 64
const FEW = BATCH / 2

/**
 * Keys recorded in batches, so that `Cleaning.afterStart` finds an upload after a kill without a reservation. For a
 * database and a store that no other process uses.
 */
export class BlobKeyPool {
  readonly #db: Database
  readonly #random: Random
  readonly #free: BlobKey[] = []
  readonly #taken = new Set<BlobKey>()
  #filling: Promise<void> | null = null

  constructor({ db, random }: { readonly db: Database; readonly random: Random }) {
    this.#db = db
    this.#random = random
  }

  /** A durable key. Throws what the database throws. */
  async take(): Promise<BlobKey> {
    for (;;) {
      const key = this.#free.pop()
      if (key === undefined) {
        await this.#fill()
        continue
      }
      this.#taken.add(key)
      // A caller that finds no key gets the failure.
      if (this.#free.length < FEW) this.#fill().catch(() => {})
      return key
    }
  }

  /** Call once nothing is under the key, or the database knows what is. */
  end(key: BlobKey): void {
    this.#taken.delete(key)
  }

  #fill(): Promise<void> {
    this.#filling ??= this.#record().finally(() => {
      this.#filling = null
    })
    return this.#filling
  }

  async #record(): Promise<void> {
    const made = Array.from({ length: BATCH }, () => makeBlobKey(this.#random))
    await inTransaction(this.#db, (trx) => recordPooledKeys(trx, [...this.#taken, ...this.#free, ...made]))
    this.#free.push(...made)
  }
}

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

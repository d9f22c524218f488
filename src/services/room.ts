import type { BlobStore } from '../blobs/blob-store.ts'
import { findAccount } from '../database/accounts.ts'
import { blobExists, discardBlob } from '../database/blobs.ts'
import { lockAccount } from '../database/differences.ts'
import { endReservation, growReservation, insertReservation, reserveRoom } from '../database/reservations.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { unwrittenBytes } from '../database/uploads.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { type AccountId, type BlobKey, GUESTS } from '../domain/ids.ts'
import { formatSize } from '../domain/sizes.ts'
import { type Caller, ownerOf } from './caller.ts'
import { guestBudget } from './guest-budget.ts'
import type { Nodes } from './nodes.ts'
import type { RateLimits } from './rate-limits.ts'
import { unavailable } from './store-health.ts'

export interface RoomLimits {
  readonly storageLimit: number
  readonly guestStorage: number
  readonly guestHourlySize: number
  readonly minFreeSpace: number
}

/** Room for one upload, set aside before its bytes come, so that they can never pass a limit. */
export interface Room {
  /**
   * Makes sure of `bytes` in all before they are written. Throws Refusal as `setAside` does, and when this node was
   * taken for dead since then.
   */
  cover(bytes: number): Promise<void>
  /** The store has so many bytes more: from now on the disk itself tells of them. */
  wrote(bytes: number): void
  /**
   * Ends the reservation inside the transaction that stores the file. Throws Refusal STORAGE_UNAVAILABLE when
   * somebody has ended it before, because this node was taken for dead.
   */
  use(trx: Db): Promise<void>
  /** To be called when that transaction is through: what a guest did not send is not held against them. */
  used(bytes: number): Promise<void>
  /**
   * Gives everything back, and leaves bytes that no row points to for removal. What the database cannot take now is
   * left to `endUnended`. Harmless when it was used.
   */
  giveBack(): Promise<void>
}

export interface Rooms {
  /** Ends the reservations of failed uploads that the database could not end then. */
  endUnended(): Promise<void>
  /**
   * Runs work for the account that sets so many bytes aside by itself, while nobody else is promised the same space of the
   * disk. The work says of bytes that it has written, for the disk itself tells of those. Throws Refusal
   * STORAGE_UNAVAILABLE when the disk has not that much.
   */
  withFreeSpace<T>(
    account: AccountId,
    bytes: number,
    work: (wrote: (bytes: number) => void) => Promise<T>,
  ): Promise<T>
  /** Refuses, as `setAside` would, what cannot fit anyway. Sets nothing aside. */
  check(caller: Caller, bytes: number): Promise<void>
  /**
   * Sets room for at least `least` bytes aside, `wanted` if there is that much; for a guest no more than a step, however
   * much that is. Throws Refusal STORAGE_LIMIT_EXCEEDED, STORAGE_UNAVAILABLE or RATE_LIMITED.
   */
  setAside(caller: Caller, key: BlobKey, least: number, wanted: number): Promise<Room>
}

const FIRST_STEP = 8 * 1024 * 1024
const LARGEST_STEP = 256 * 1024 * 1024

/** A guest's upload is promised no more than this beyond what it has sent: a promise costs nothing and keeps others out. */
export const GUEST_STEP = 8 * 1024 * 1024

/** How many times the floor of free space has to be left for guests' uploads: the last of it is for accounts. */
const GUEST_FLOORS = 2

/** Seconds until an upload that was taken from this node may be sent again. */
const INTERRUPTED_RETRY = 5

export function createRooms(parts: {
  db: Db
  blobs: BlobStore
  /** Bytes that the disk under the database has left; null where nobody can tell. */
  databaseSpace: () => Promise<number | null>
  rates: RateLimits
  nodes: Nodes
  clock: Clock
  limits: RoomLimits
  report: (error: unknown) => void
}): Rooms {
  const { db, blobs, databaseSpace, rates, nodes, clock, limits, report } = parts
  /** What uploads of this process were promised and have not written yet. */
  let outstanding = 0

  /** No upload may take the disk below its floor, what others were promised included. */
  async function assertFreeSpace(account: AccountId, bytes: number): Promise<void> {
    const free = await blobs.freeSpace()
    if (free === null) return assertDatabaseSpace()
    const promised = outstanding + (await unwrittenBytes(db))
    const floor = limits.minFreeSpace * (account === GUESTS ? GUEST_FLOORS : 1)
    if (free - promised - bytes < floor) throw unavailable()
  }

  /** Where bytes lie elsewhere, the rows of files still need the database's own disk. */
  async function assertDatabaseSpace(): Promise<void> {
    const free = await databaseSpace()
    if (free !== null && free < limits.minFreeSpace) throw unavailable()
  }

  /** The same, and the bytes are promised from then on, so that uploads which begin at once see each other. */
  async function promise(account: AccountId, bytes: number): Promise<void> {
    await assertFreeSpace(account, bytes)
    outstanding += bytes
  }

  /** Reservations of uploads that have failed, until the database has taken note of it. */
  const unended = new Map<BlobKey, AccountId>()

  async function end(key: BlobKey, account: AccountId): Promise<void> {
    await inTransaction(db, async (trx) => {
      // A transaction of this upload whose end nobody has heard of has the account, and is waited for.
      await lockAccount(trx, account)
      await endReservation(trx, key)
      // Bytes that were finished and never got their row are named nowhere else.
      if (!(await blobExists(trx, key))) await discardBlob(trx, key, clock.now())
    })
    unended.delete(key)
  }

  return {
    async endUnended() {
      for (const [key, account] of unended) await end(key, account)
    },

    async withFreeSpace(account, bytes, work) {
      await promise(account, bytes)
      let left = bytes
      const wrote = (written: number) => {
        const some = Math.min(left, written)
        left -= some
        outstanding -= some
      }
      try {
        return await work(wrote)
      } finally {
        outstanding -= left
      }
    },

    async check(caller, bytes) {
      const account = ownerOf(caller)
      await assertFreeSpace(account, bytes)
      const row = await findAccount(db, account)
      if (row !== undefined && row.storage_used + bytes > (row.quota ?? limitOf(account, limits)))
        throw await full(db, account, limits)
    },

    async setAside(caller, key, least, wanted) {
      const account = ownerOf(caller)
      const limit = limitOf(account, limits)
      const budget = guestBudget(caller, rates, limits.guestHourlySize)
      const node = nodes.id()
      let held: number | null = null
      let written = 0
      /** What is declared may be too little where another part follows the file. */
      const most = wanted > 0 ? wanted : Number.POSITIVE_INFINITY

      /** Adds to the reservation, or throws and changes nothing. */
      async function add(bytes: number): Promise<void> {
        await promise(account, bytes)
        const isNew = held === null
        let isTaken = false
        try {
          await budget.take(bytes)
          isTaken = true
          await inTransaction(db, async (trx) => {
            if (!(await reserveRoom(trx, account, bytes, limit))) throw await full(trx, account, limits)
            const reservation = { key, account_id: account, bytes, created_at: clock.now(), node }
            if (isNew) await insertReservation(trx, reservation)
            else if (!(await growReservation(trx, key, bytes))) throw interrupted()
          })
        } catch (error) {
          // The answer to the commit may have been lost, not the commit.
          if (isNew && isTaken && !(error instanceof Refusal)) unended.set(key, account)
          outstanding -= bytes
          if (isTaken) await budget.giveBack(bytes)
          throw error
        }
        held = (held ?? 0) + bytes
      }

      async function addAtLeast(least: number, wanted: number): Promise<void> {
        try {
          await add(wanted)
        } catch (error) {
          if (!(error instanceof Refusal) || least >= wanted) throw error
          await add(least)
        }
      }

      function close(): void {
        outstanding -= (held ?? 0) - written
        held = null
        written = 0
      }

      if (account === GUESTS) await add(Math.min(Math.max(least, wanted), GUEST_STEP))
      else await addAtLeast(least, Math.max(least, wanted))

      return {
        async cover(bytes) {
          if (nodes.id() !== node) throw interrupted()
          const present = held ?? 0
          if (bytes > present) {
            const missing = bytes - present
            await addAtLeast(missing, Math.max(missing, nextStep(account, present, most)))
          }
        },

        wrote(bytes) {
          outstanding -= bytes
          written += bytes
        },

        async use(trx) {
          if (!(await endReservation(trx, key))) throw interrupted()
        },

        async used(bytes) {
          close()
          await budget.settle(bytes)
        },

        async giveBack() {
          if (held === null) return
          close()
          unended.set(key, account)
          await budget.settle(0)
          await end(key, account).catch(report)
        },
      }
    },
  }
}

/**
 * By how much the room of an upload grows that has so much already: by more the more there is, but for guests. `most`: what
 * it may come to in all.
 */
export function nextStep(account: AccountId, present: number, most: number): number {
  const step = account === GUESTS ? GUEST_STEP : Math.min(LARGEST_STEP, Math.max(FIRST_STEP, present))
  return Math.min(step, Math.max(0, most - present))
}

/** What the account may have in all, unless it has a quota of its own. */
export function limitOf(account: AccountId, limits: RoomLimits): number {
  return account === GUESTS ? limits.guestStorage : limits.storageLimit
}

/** What somebody is told for whom that is too little. */
export async function full(db: Db, account: AccountId, limits: RoomLimits): Promise<Refusal> {
  if (account === GUESTS) return unavailable()
  const limit = formatSize((await findAccount(db, account))?.quota ?? limits.storageLimit)
  return new Refusal(
    'STORAGE_LIMIT_EXCEEDED',
    `This file does not fit into the ${limit} of this account; delete something first`,
  )
}

/** The others took this node for dead and ended its uploads. */
export function interrupted(): Refusal {
  return new Refusal(
    'STORAGE_UNAVAILABLE',
    'The server was interrupted and cannot finish this upload; send it again',
    INTERRUPTED_RETRY,
  )
}

import type { BlobStore } from '../blobs/blob-store.ts'
import { findAccount } from '../database/accounts.ts'
import { blobExists, discardBlob } from '../database/blobs.ts'
import { endReservation, growReservation, insertReservation, reserveRoom } from '../database/reservations.ts'
import type { Db } from '../database/schema.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { type BlobKey, GUESTS } from '../domain/ids.ts'
import { formatSize } from '../domain/sizes.ts'
import type { Caller } from './caller.ts'
import { guestBudget } from './guest-budget.ts'
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
  /** Makes sure of `bytes` in all before they are written. Throws Refusal as `setAside` does. */
  cover(bytes: number): Promise<void>
  /** Ends the reservation inside the transaction that stores the file. */
  use(trx: Db): Promise<void>
  /** To be called when that transaction is through: what a guest did not send is not held against them. */
  used(bytes: number): void
  /**
   * Gives everything back, and leaves bytes that no row points to for removal. What the database cannot take now is
   * left to `endUnended`. Harmless when it was used.
   */
  giveBack(): Promise<void>
}

export interface Rooms {
  /** Ends the reservations of failed uploads that the database could not end then. */
  endUnended(): Promise<void>
  /** Refuses, as `setAside` would, what cannot fit anyway. Sets nothing aside. */
  check(caller: Caller, bytes: number): Promise<void>
  /**
   * Sets room for at least `least` bytes aside, `wanted` if there is that much.
   * Throws Refusal STORAGE_LIMIT_EXCEEDED, STORAGE_UNAVAILABLE or RATE_LIMITED.
   */
  setAside(caller: Caller, key: BlobKey, least: number, wanted: number): Promise<Room>
}

const FIRST_STEP = 8 * 1024 * 1024
const LARGEST_STEP = 256 * 1024 * 1024

export function createRooms(
  db: Db,
  blobs: BlobStore,
  rates: RateLimits,
  clock: Clock,
  limits: RoomLimits,
  report: (error: unknown) => void,
): Rooms {
  /** What uploads of this process were promised and have not written yet. */
  let outstanding = 0

  /** No upload may take the disk below its floor, what others were promised included. */
  async function assertFreeSpace(bytes: number): Promise<void> {
    const free = await blobs.freeSpace()
    if (free !== null && free - outstanding - bytes < limits.minFreeSpace) throw unavailable()
  }

  /** Reservations of uploads that have failed, until the database has taken note of it. */
  const unended = new Set<BlobKey>()

  async function endUnended(): Promise<void> {
    for (const key of unended) {
      await db.transaction().execute(async (trx) => {
        await endReservation(trx, key)
        // Bytes that were finished and never got their row are named nowhere else.
        if (!(await blobExists(trx, key))) await discardBlob(trx, key, clock.now())
      })
      unended.delete(key)
    }
  }

  const ownerOf = (caller: Caller) =>
    caller.kind === 'account'
      ? { account: caller.account, limit: limits.storageLimit }
      : { account: GUESTS, limit: limits.guestStorage }

  function full(caller: Caller): Refusal {
    if (caller.kind === 'guest') return unavailable()
    const limit = formatSize(limits.storageLimit)
    return new Refusal(
      'STORAGE_LIMIT_EXCEEDED',
      `This file does not fit into the ${limit} of this account; delete something first`,
    )
  }

  return {
    endUnended,

    async check(caller, bytes) {
      await assertFreeSpace(bytes)
      const { account, limit } = ownerOf(caller)
      const row = await findAccount(db, account)
      if (row !== undefined && row.storage_used + bytes > limit) throw full(caller)
    },

    async setAside(caller, key, least, wanted) {
      const { account, limit } = ownerOf(caller)
      const budget = guestBudget(caller, rates, limits.guestHourlySize)
      let held: number | null = null
      let written = 0

      /** Adds to the reservation, or throws and changes nothing. */
      async function add(bytes: number): Promise<void> {
        await assertFreeSpace(bytes)
        budget.take(bytes)
        const isNew = held === null
        try {
          await db.transaction().execute(async (trx) => {
            if (!(await reserveRoom(trx, account, bytes, limit))) throw full(caller)
            if (isNew)
              await insertReservation(trx, { key, account_id: account, bytes, created_at: clock.now() })
            else await growReservation(trx, key, bytes)
          })
        } catch (error) {
          budget.giveBack(bytes)
          throw error
        }
        held = (held ?? 0) + bytes
        outstanding += bytes
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

      await addAtLeast(least, Math.max(least, wanted))

      return {
        async cover(bytes) {
          const present = held ?? 0
          if (bytes > present) {
            const missing = bytes - present
            const step = Math.min(LARGEST_STEP, Math.max(FIRST_STEP, present))
            await addAtLeast(missing, Math.max(missing, step))
          }
          outstanding -= bytes - written
          written = bytes
        },

        async use(trx) {
          await endReservation(trx, key)
        },

        used(bytes) {
          budget.settle(bytes)
          close()
        },

        async giveBack() {
          if (held === null) return
          close()
          budget.settle(0)
          unended.add(key)
          await endUnended().catch(report)
        },
      }
    },
  }
}

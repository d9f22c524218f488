import type { BlobStore } from '../blobs/blob-store.ts'
import { endReservation, growReservation, insertReservation, reserveRoom } from '../database/reservations.ts'
import type { Db } from '../database/schema.ts'
import { type Clock, HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { type AccountId, type BlobKey, GUESTS } from '../domain/ids.ts'
import { formatSize } from '../domain/sizes.ts'
import type { Caller } from './caller.ts'
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
  used(size: number): void
  /** Gives everything back. Harmless when it was used. */
  giveBack(): Promise<void>
}

export interface Rooms {
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
): Rooms {
  /** What uploads of this process were promised and have not written yet. */
  let outstanding = 0

  /** No upload may take the disk below its floor, what others were promised included. */
  async function assertFreeSpace(bytes: number): Promise<void> {
    const free = await blobs.freeSpace()
    if (free !== null && free - outstanding - bytes < limits.minFreeSpace) throw unavailable()
  }

  return {
    async setAside(caller, key, least, wanted) {
      const account: AccountId = caller.kind === 'account' ? caller.account : GUESTS
      const limit = caller.kind === 'account' ? limits.storageLimit : limits.guestStorage
      let held = 0
      let written = 0
      let charged = 0

      function charge(bytes: number): void {
        if (caller.kind === 'account') return
        const verdict = rates.take(`guest-bytes:${caller.bucket}`, bytes, limits.guestHourlySize, HOUR)
        if (!verdict.allowed) {
          const size = formatSize(limits.guestHourlySize)
          throw new Refusal(
            'RATE_LIMITED',
            `Guests may upload ${size} an hour; try again later`,
            verdict.resetsIn,
          )
        }
        charged += bytes
      }

      function discharge(bytes: number): void {
        if (caller.kind === 'guest') rates.giveBack(`guest-bytes:${caller.bucket}`, bytes)
        charged -= bytes
      }

      function refuse(): never {
        if (caller.kind === 'guest') throw unavailable()
        throw new Refusal(
          'STORAGE_LIMIT_EXCEEDED',
          `This file does not fit into the ${formatSize(limit)} of this account; delete something first`,
        )
      }

      /** Adds to the reservation, or changes nothing and says so. */
      async function add(bytes: number): Promise<boolean> {
        await assertFreeSpace(bytes)
        charge(bytes)
        const reserved = await db.transaction().execute(async (trx) => {
          if (!(await reserveRoom(trx, account, bytes, limit))) return false
          if (held > 0) await growReservation(trx, key, bytes)
          else await insertReservation(trx, { key, account_id: account, bytes, created_at: clock.now() })
          return true
        })
        if (reserved) {
          held += bytes
          outstanding += bytes
        } else discharge(bytes)
        return reserved
      }

      function close(): void {
        outstanding -= held - written
        held = 0
        written = 0
      }

      const first = Math.max(1, least, wanted)
      if (!(await add(first)) && !(least < first && (await add(Math.max(1, least))))) refuse()

      return {
        async cover(bytes) {
          if (bytes > held) {
            const missing = bytes - held
            const step = Math.max(missing, Math.min(LARGEST_STEP, Math.max(FIRST_STEP, held)))
            if (!(await add(step)) && (step === missing || !(await add(missing)))) refuse()
          }
          outstanding -= bytes - written
          written = bytes
        },

        async use(trx) {
          await endReservation(trx, key)
        },

        used(size) {
          discharge(charged - size)
          close()
        },

        async giveBack() {
          if (held === 0) return
          close()
          discharge(charged)
          await db.transaction().execute((trx) => endReservation(trx, key))
        },
      }
    },
  }
}

import { lockAccount } from '../database/differences.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { declareSize } from '../database/upload-sittings.ts'
import { reserveForUpload, type UploadRow, uploadById } from '../database/uploads.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, UploadId } from '../domain/ids.ts'
import { type Caller, ownerOf } from './caller.ts'
import { guestBudget } from './guest-budget.ts'
import type { RateLimits } from './rate-limits.ts'
import { full, interrupted, limitOf, type RoomLimits, type Rooms } from './room.ts'

/**
 * Room for resumable uploads. It is the upload's and not a node's: it stays set aside until the upload ends. A guest's
 * hourly bytes are taken with it and not given back, so that nobody keeps the room of all guests by starting uploads.
 *
 * Every method throws Refusal STORAGE_LIMIT_EXCEEDED, STORAGE_UNAVAILABLE or RATE_LIMITED, and then changes nothing.
 */
export interface UploadRooms {
  /** Makes the row by `insert`, with room for so many bytes. */
  create(caller: Caller, bytes: number, insert: (trx: Db) => Promise<UploadId>): Promise<UploadRow>
  /** Adds room for at least `least` bytes, for `wanted` if there is that much. Returns how much it was. */
  add(caller: Caller, upload: UploadRow, least: number, wanted: number): Promise<number>
  /** Says how large an upload is of which nobody knew it, and makes sure of the room for all of it. */
  declareSize(caller: Caller, upload: UploadRow, size: number): Promise<void>
}

export function createUploadRooms(parts: {
  db: Db
  rates: RateLimits
  rooms: Rooms
  limits: RoomLimits
}): UploadRooms {
  const { db, rates, rooms, limits } = parts

  /** Runs a transaction that sets so many bytes aside, under the account's lock. */
  async function settingAside<T>(
    caller: Caller,
    account: AccountId,
    bytes: number,
    work: (trx: Db) => Promise<T>,
  ) {
    const budget = guestBudget(caller, rates, limits.guestHourlySize)
    return rooms.withFreeSpace(bytes, async () => {
      await budget.take(bytes)
      try {
        return await inTransaction(db, async (trx) => {
          await lockAccount(trx, account)
          return work(trx)
        })
      } catch (error) {
        await budget.giveBack(bytes)
        throw error
      }
    })
  }

  async function reserve(trx: Db, id: UploadId, account_id: AccountId, bytes: number): Promise<void> {
    const isReserved = await reserveForUpload(trx, { id, account_id }, bytes, limitOf(account_id, limits))
    if (!isReserved) throw await full(trx, account_id, limits)
  }

  const add = (caller: Caller, { id, account_id }: UploadRow, bytes: number) =>
    settingAside(caller, account_id, bytes, (trx) => reserve(trx, id, account_id, bytes))

  return {
    create(caller, bytes, insert) {
      const account = ownerOf(caller)
      return settingAside(caller, account, bytes, async (trx) => {
        const id = await insert(trx)
        await reserve(trx, id, account, bytes)
        const row = await uploadById(trx, id)
        if (row === undefined) throw new Error('an upload that was just made is gone')
        return row
      })
    },

    async add(caller, upload, least, wanted) {
      try {
        await add(caller, upload, wanted)
        return wanted
      } catch (error) {
        if (!(error instanceof Refusal) || least >= wanted) throw error
        await add(caller, upload, least)
        return least
      }
    },

    async declareSize(caller, upload, size) {
      const { id, account_id, reserved } = upload
      const missing = Math.max(0, size - reserved)
      await settingAside(caller, account_id, missing, async (trx) => {
        await reserve(trx, id, account_id, missing)
        if (!(await declareSize(trx, id, size))) throw interrupted()
      })
    },
  }
}

import { lockAccount } from '../database/differences.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { declareSize } from '../database/upload-sittings.ts'
import { countEmpty, reserveForUpload, type UploadRow, uploadById } from '../database/uploads.ts'
import { Refusal } from '../domain/errors.ts'
import { type AccountId, GUESTS, type UploadId } from '../domain/ids.ts'
import { type Caller, ownerOf } from './caller.ts'
import { guestBudget } from './guest-budget.ts'
import type { RateLimits } from './rate-limits.ts'
import { full, interrupted, limitOf, type RoomLimits, type Rooms } from './room.ts'
import type { Signing } from './signing.ts'

/**
 * Room for resumable uploads. It is the upload's and not a node's: it stays set aside until the upload ends. A guest's
 * hourly bytes are taken with it and not given back, so that nobody keeps the room of all guests by starting uploads.
 *
 * Every method throws Refusal STORAGE_LIMIT_EXCEEDED, STORAGE_UNAVAILABLE or RATE_LIMITED, and then changes nothing.
 */
export interface UploadRooms {
  /**
   * Makes the row by `insert`, with room for an upload of that size; a guest's gets its room as its bytes come. Throws
   * Refusal RATE_LIMITED also when too many uploads wait for their first byte.
   */
  create(caller: Caller, size: number, insert: (trx: Db) => Promise<UploadId>): Promise<UploadRow>
  /** Adds room for at least `least` bytes, for `wanted` if there is that much. Returns how much it was. */
  add(caller: Caller, upload: UploadRow, least: number, wanted: number): Promise<number>
  /**
   * Says how large an upload is of which nobody knew it, and makes sure of the room for all of it, or leaves that to `add`
   * for a guest's. Returns how much room it has.
   */
  declareSize(caller: Caller, upload: UploadRow, size: number): Promise<number>
}

export function createUploadRooms(parts: {
  db: Db
  rates: RateLimits
  rooms: Rooms
  limits: RoomLimits
  signing: Signing
}): UploadRooms {
  const { db, rates, rooms, limits, signing } = parts

  const addressOf = (caller: Caller) =>
    caller.kind === 'guest' ? guestAddress(signing, caller.bucket) : null

  /** Runs a transaction that sets so many bytes aside, under the account's lock. */
  async function settingAside<T>(
    caller: Caller,
    account: AccountId,
    bytes: number,
    work: (trx: Db) => Promise<T>,
  ) {
    const budget = guestBudget(caller, rates, limits.guestHourlySize)
    return rooms.withFreeSpace(account, bytes, async () => {
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
    async create(caller, size, insert) {
      const account = ownerOf(caller)
      const bytes = account === GUESTS ? 0 : size
      // What could never fit is refused before anything is sent.
      if (account === GUESTS) await rooms.check(caller, size)
      return settingAside(caller, account, bytes, async (trx) => {
        await assertFewEmpty(trx, account, addressOf(caller))
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
      const missing = account_id === GUESTS ? 0 : Math.max(0, size - reserved)
      await settingAside(caller, account_id, missing, async (trx) => {
        await reserve(trx, id, account_id, missing)
        if (!(await declareSize(trx, id, size))) throw interrupted()
      })
      return reserved + missing
    },
  }
}

/** Uploads of one account, or of all guests together, and of one guest's address, that may wait for their first byte. */
export const MOST_EMPTY = 10_000
export const MOST_EMPTY_OF_ADDRESS = 100

/** Seconds until it is worth trying again: most that wait get their bytes, or are ended, within that. */
const EMPTY_RETRY = 600

/** A row costs little, but a sender may ask for any number of them. */
async function assertFewEmpty(trx: Db, account: AccountId, address: string | null): Promise<void> {
  const isTooMany =
    (address !== null &&
      (await countEmpty(trx, account, address, MOST_EMPTY_OF_ADDRESS)) === MOST_EMPTY_OF_ADDRESS) ||
    (await countEmpty(trx, account, null, MOST_EMPTY)) === MOST_EMPTY
  if (!isTooMany) return
  const message = 'Too many uploads were started of which nothing has come; send their bytes, or end them'
  throw new Refusal('RATE_LIMITED', message, EMPTY_RETRY)
}

/** What is kept of a guest's address: it tells uploads from the same one, and nothing else. */
export function guestAddress(signing: Signing, bucket: string): string {
  return signing.tag('guest address', bucket)
}

import { blobExists, discardBlob } from '../core/blobs.rows.ts'
import { endReservation } from '../core/reservations.rows.ts'
import type { Database } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import type { AccountId, BlobKey } from '../domain/ids.ts'

/** Reservations of this node whose upload has failed, kept until the database has ended them. */
export class FailedReservations {
  readonly #db: Database
  readonly #clock: Clock
  readonly #pending = new Map<BlobKey, AccountId>()

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** Notes a reservation that may be in the database, for `endAll`. */
  add(key: BlobKey, account: AccountId): void {
    this.#pending.set(key, account)
  }

  /** Ends the reservation, and leaves bytes that no row points to as garbage. */
  async end(key: BlobKey, account: AccountId): Promise<void> {
    await inTransaction(this.#db, async (trx) => {
      // A transaction of this upload whose end nobody has heard of has the account, and is waited for.
      await lockAccount(trx, account)
      await endReservation(trx, key)
      // Bytes that were completed and never got their row are named nowhere else.
      if (!(await blobExists(trx, key))) await discardBlob(trx, key, this.#clock.now())
    })
    this.#pending.delete(key)
  }

  async endAll(): Promise<void> {
    for (const [key, account] of this.#pending) await this.end(key, account)
  }
}

import { blobExists, discardBlob } from '../core/blobs.rows.ts'
import { endReservation } from '../core/reservations.rows.ts'
import type { Database } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import type { AccountId, BlobKey } from '../domain/ids.ts'

export class FailedReservations {
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
      await endReservation(trx, key)
      // Completed bytes without a row are named nowhere else.
      if (!(await blobExists(trx, key))) await discardBlob(trx, key, this.#clock.now())
    })
    this.#pending.delete(key)
  }

  async endAll(): Promise<void> {
    for (const [key, account] of this.#pending) await this.end(key, account)
  }
}

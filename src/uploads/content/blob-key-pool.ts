import { recordPooledKeys } from '../../core/pooled-keys.rows.ts'
import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { BlobKey } from '../../domain/ids.ts'
import { makeBlobKey, type Random } from '../../domain/random.ts'

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

/** A database that applies a commit and then fails, as with a disk that fails right after the write. */
import type { CompiledQuery, Transaction } from 'kysely'
import type { Database } from '../../../src/database/database.ts'
import type { Tables } from '../../../src/database/schema.ts'

export interface LossyDatabase {
  readonly between: (db: Database) => Database
  /**
   * Makes the next commit throw although it is applied, that of a change without a transaction too. `quiet`: every query fails afterwards, reads too,
   * until `recover`.
   */
  loseNextAnswer(then: 'quiet' | 'well'): void
  recover(): void
}

export function lossyDatabase(): LossyDatabase {
  let next: 'quiet' | 'well' | null = null
  let quiet = false

  async function losing(change: () => Promise<unknown>): Promise<never> {
    await change()
    quiet = next === 'quiet'
    next = null
    throw inputOutputError('SQLITE_IOERR_FSYNC')
  }

  return {
    between: (db) =>
      new Proxy(db, {
        get(target, property) {
          if (quiet) throw inputOutputError('SQLITE_IOERR_READ')
          if (property === 'transaction' && next !== null) {
            return () => ({
              execute: <T>(work: (trx: Transaction<Tables>) => Promise<T>) =>
                losing(() => target.transaction().execute(work)),
            })
          }
          if (property === 'executeQuery' && next !== null) {
            return (query: CompiledQuery) => losing(() => target.executeQuery(query))
          }
          const value: unknown = Reflect.get(target, property)
          // Bound to the target, because Kysely uses private fields, which a proxy lacks.
          return typeof value === 'function' ? value.bind(target) : value
        },
      }),
    loseNextAnswer(then) {
      next = then
    },
    recover() {
      quiet = false
    },
  }
}

/** As SQLite reports it. */
function inputOutputError(code: string): Error {
  return Object.assign(new Error('disk I/O error'), { code })
}

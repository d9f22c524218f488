/** A database that carries a commit out and loses its answer, as a disk does that fails right after the write. */
import type { Db } from '../../src/database/schema.ts'

export interface LossyDatabase {
  readonly between: (db: Db) => Db
  /**
   * The next transaction that is committed throws nevertheless. `quiet` says that nothing answers after that,
   * not reads either, until `recover`.
   */
  loseNextAnswer(then: 'quiet' | 'well'): void
  recover(): void
}

export function lossyDatabase(): LossyDatabase {
  let next: 'quiet' | 'well' | null = null
  let quiet = false

  async function losing<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> {
    await db.transaction().execute(work)
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
            return () => ({ execute: <T>(work: (trx: Db) => Promise<T>) => losing(target, work) })
          }
          const value: unknown = Reflect.get(target, property)
          // Kysely keeps its parts in private fields, which a proxy does not have.
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

/** As SQLite gives it. */
function inputOutputError(code: string): Error {
  return Object.assign(new Error('disk I/O error'), { code })
}

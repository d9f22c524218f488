import { endsWithin } from '../domain/abort.ts'
import type { AccountId } from '../domain/ids.ts'
import { Batcher } from './batcher.ts'
import { asTrx, type Database, isPostgres, type TransactionOutcome, type Trx } from './database.ts'
import { disableIdleTimeout, isConflict, isDatabaseFailure, OutcomeUnknown } from './differences.ts'
import { isCommitted } from './outcomes.ts'

const MOST_TRIES = 5

/** Milliseconds before each query; in total enough for a database restart. */
const OUTCOME_WAITS = [0, 100, 300, 600, 1000, 2000, 2000, 2000]
/** Milliseconds after sending a commit, so that the client is answered within ten seconds. */
const OUTCOME_WITHIN = 8000
/** Minimum after a slow commit. */
const LEAST_FOR_OUTCOME = 1000

/**
 * All or nothing. Work that loses a conflict is rerun, so it must have no effects outside of the database.
 *
 * When the answer to a commit is lost, PostgreSQL is asked for the outcome, if the work has locked an
 * account; throws OutcomeUnknown when it does not tell in time. SQLite may report a failed commit that was in fact applied; then `find` looks for a row that only
 * this work writes. What it finds is durable: before the error is thrown, all that was written is synced.
 */
export async function inTransaction<T>(
  db: Database,
  work: (trx: Trx) => Promise<T>,
  find: () => Promise<Found<T> | null> = async () => null,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const done: (Found<T> & {
      readonly outcome: TransactionOutcome | null
      readonly search: OutcomeSearch
    })[] = []
    try {
      return await db.transaction().execute(async (transaction) => {
        const trx = await asTrx(transaction, db.executor)
        const value = await work(trx)
        done.push({ value, outcome: trx.outcome, search: outcomeSearch() })
        return value
      })
    } catch (error) {
      if (isConflict(error) && tries < MOST_TRIES) continue
      const [end] = done
      if (end === undefined || !isDatabaseFailure(error)) throw error
      if (end.outcome !== null) {
        if (await wentThrough(db, end.outcome, end.search)) return end.value
        throw error
      }
      const found = await find().catch(() => null)
      if (found === null) throw error
      return found.value
    }
  }
}

/**
 * Statements of one transaction that need none of each other's rows, in one trip to PostgreSQL. They are executed in
 * their order. Waits for all, and throws the first failure in their order: PostgreSQL refuses all statements behind one.
 */
export async function together<T extends readonly Promise<unknown>[]>(...sent: T) {
  for (const end of await Promise.allSettled(sent)) if (end.status === 'rejected') throw end.reason
  return Promise.all(sent)
}

/** Changes several items in one transaction, and returns one result for each, in order. */
type SharedWork<Item, Result> = (trx: Trx, items: readonly Item[]) => Promise<readonly Result[]>

type SharedEnd<Result> = { readonly result: Result } | { readonly error: unknown }

interface Lane<Item, Result> {
  readonly batcher: Batcher<Item, SharedEnd<Result>>
  waiting: number
}

/**
 * On PostgreSQL, changes that lock the same account and come at once share a transaction: each would wait for the
 * commit of the one before it. On SQLite, where one sync serves all waiting commits, each has its own.
 */
export class SharedTransactions<Item, Result> {
  readonly #db: Database
  readonly #work: SharedWork<Item, Result>
  readonly #lanes = new Map<AccountId, Lane<Item, Result>>()

  constructor(db: Database, work: SharedWork<Item, Result>) {
    this.#db = db
    this.#work = work
  }

  /** As `inTransaction`. An item that fails keeps no other from its end. */
  async run(account: AccountId, item: Item, find: () => Promise<Found<Result> | null>): Promise<Result> {
    if (!isPostgres(this.#db)) return this.runAlone(item, find)
    const lane = this.#lanes.get(account) ?? {
      // Another transaction would only wait for the account's row.
      batcher: new Batcher((items: readonly Item[]) => this.#runAll(items), 1),
      waiting: 0,
    }
    this.#lanes.set(account, lane)
    lane.waiting++
    try {
      const end = await lane.batcher.ask(item)
      if ('error' in end) throw end.error
      return end.result
    } finally {
      if (--lane.waiting === 0) this.#lanes.delete(account)
    }
  }

  async runAlone(item: Item, find: () => Promise<Found<Result> | null>): Promise<Result> {
    const work = async (trx: Trx) => {
      const [result] = await this.#work(trx, [item])
      if (result === undefined) throw new Error('a change has no result')
      return result
    }
    return inTransaction(this.#db, work, find)
  }

  async #runAll(items: readonly Item[]): Promise<readonly SharedEnd<Result>[]> {
    try {
      const results = await inTransaction(this.#db, (trx) => this.#work(trx, items))
      return results.map((result) => ({ result }))
    } catch (error) {
      if (items.length === 1 || isDatabaseFailure(error)) return items.map(() => ({ error }))
      const ends: SharedEnd<Result>[] = []
      for (const item of items) ends.push(...(await this.#runAll([item])))
      return ends
    }
  }
}

/** A read-only transaction that sees one moment. It may take any time and blocks no writers. */
export function inSnapshot<T>(db: Database, work: (trx: Trx) => Promise<T>): Promise<T> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (transaction) => {
      const trx = await asTrx(transaction, db.executor)
      await disableIdleTimeout(trx)
      return work(trx)
    })
}

export interface Found<T> {
  readonly value: T
}

/** Whether the transaction was committed. Throws OutcomeUnknown. */
async function wentThrough(
  db: Database,
  outcome: TransactionOutcome,
  search: OutcomeSearch,
): Promise<boolean> {
  return (await search(() => isCommitted(db, outcome))) === true
}

/** Asks again while the database is unavailable. Throws OutcomeUnknown when it has not answered in time. */
type OutcomeSearch = <T>(ask: () => Promise<T>) => Promise<T>

/** To be called when the commit is sent. */
function outcomeSearch(): OutcomeSearch {
  const began = performance.now()
  return async (ask) => {
    const until = Math.max(began + OUTCOME_WITHIN, performance.now() + LEAST_FOR_OUTCOME)
    for (const wait of OUTCOME_WAITS) {
      if (performance.now() + wait > until) break
      await Bun.sleep(wait)
      try {
        const asked = ask()
        if (await endsWithin(until - performance.now(), asked)) return await asked
        break
      } catch (error) {
        if (!isDatabaseFailure(error)) throw error
      }
    }
    throw new OutcomeUnknown('the database did not tell in time whether a transaction was committed')
  }
}

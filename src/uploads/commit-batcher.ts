import { endReservation } from '../core/reservations.rows.ts'
import { Batcher } from '../database/batcher.ts'
import type { Database, StatementPipeline } from '../database/database.ts'
import { isDatabaseFailure, lockAccount, lockingForUploads } from '../database/differences.ts'
import { inTransaction, type OutcomeSearch, outcomeSearch } from '../database/transactions.ts'
import type { AccountId, FileId } from '../domain/ids.ts'
import { findFile } from '../files/files.rows.ts'
import { type NewRows, type StoringResult, storingStatement } from './stored-files.rows.ts'

type Ending =
  | { readonly result: StoringResult }
  /** With a search the file may be stored all the same. */
  | { readonly error: unknown; readonly search: OutcomeSearch | null }

interface Lane {
  readonly batcher: Batcher<NewRows, Ending>
  waiting: number
}

/**
 * Stores an account's files whose commit only ends their reservation, in one transaction: they would wait for its row.
 * The reservation resolves a commit whose answer was lost: only storing removes it and inserts the file's row.
 */
export class CommitBatcher {
  readonly #db: Database
  readonly #pipeline: StatementPipeline
  readonly #lanes = new Map<AccountId, Lane>()

  constructor(db: Database, pipeline: StatementPipeline) {
    this.#db = db
    this.#pipeline = pipeline
  }

  /** Returns once the rows would survive a power cut, or nothing is stored. Throws as `storingStatement`. */
  async store(rows: NewRows): Promise<StoringResult> {
    const ending = await this.#ending(rows)
    if ('result' in ending) return ending.result
    const id = ending.search === null ? null : await this.#lookUp(rows, ending.search)
    if (id === null) throw ending.error
    return { id, isFolderGone: false, isRefused: false, isFull: false }
  }

  async #ending(rows: NewRows): Promise<Ending> {
    const { account_id: account } = rows.file
    const lane = this.#lanes.get(account) ?? {
      batcher: new Batcher((all: readonly NewRows[]) => this.#storeAll(account, all)),
      waiting: 0,
    }
    this.#lanes.set(account, lane)
    lane.waiting++
    try {
      return await lane.batcher.ask(rows)
    } finally {
      if (--lane.waiting === 0) this.#lanes.delete(account)
    }
  }

  async #storeAll(account: AccountId, all: readonly NewRows[]): Promise<readonly Ending[]> {
    const contents = all.map(({ blob }) => blob.sha256)
    const statements = all.map((rows) => storingStatement(this.#db, rows, rows.blob.key))
    let search: OutcomeSearch | null = null
    try {
      const before = [lockingForUploads(this.#db, account, contents)]
      const found = await this.#pipeline(before, statements, () => {
        search = outcomeSearch()
      })
      return found.map(([result]) => {
        if (result === undefined) throw new Error('storing a file has a result')
        return { result }
      })
    } catch (error) {
      if (isDatabaseFailure(error)) return all.map(() => ({ error, search }))
      if (all.length === 1) return all.map(() => ({ error, search: null }))
      // One that cannot be stored must not keep the others from it.
      const endings: Ending[] = []
      for (const one of all) endings.push(...(await this.#storeAll(account, [one])))
      return endings
    }
  }

  /** The file's id, if it was stored; else from now on it will not be. Throws OutcomeUnknown. */
  async #lookUp({ file, blob }: NewRows, search: OutcomeSearch): Promise<FileId | null> {
    return search(async () => {
      const isOpen = await inTransaction(this.#db, async (trx) => {
        // Waits for a transaction under way.
        await lockAccount(trx, file.account_id)
        return endReservation(trx, blob.key)
      })
      if (isOpen) return null
      return (await findFile(this.#db, { kind: 'uuid', uuid: file.uuid }))?.id ?? null
    })
  }
}

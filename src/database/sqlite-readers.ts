import type { Compilable, CompiledQuery } from 'kysely'
import { entryPath } from '../program/entries.ts'
import { compiledQuery, type Reader } from './database.ts'
import type { KnownDamage } from './sqlite-damage.ts'
import type { ReadReply, ReadRequest } from './sqlite-reader.ts'

/** A list runs two queries in parallel: page and count. */
const MOST_THREADS = 2

export class SqliteReaderThreads implements Reader {
  readonly gathersLookups = false
  readonly #path: string
  readonly #damage: KnownDamage
  readonly #threads: Thread[] = []

  constructor(path: string, damage: KnownDamage) {
    this.#path = path
    this.#damage = damage
  }

  async rows<Row>(query: Compilable<Row> | CompiledQuery<Row>): Promise<Row[]> {
    const { sql, parameters } = compiledQuery(query)
    try {
      return await this.#leastBusy().ask<Row>(sql, parameters)
    } catch (error) {
      throw this.#damage.met(error)
    }
  }

  close(): void {
    for (const thread of this.#threads) thread.end()
  }

  #leastBusy(): Thread {
    const [leastBusy] = this.#threads.toSorted((one, other) => one.waiting() - other.waiting())
    if (leastBusy !== undefined && (leastBusy.waiting() === 0 || this.#threads.length === MOST_THREADS))
      return leastBusy
    const thread = startThread(this.#path)
    this.#threads.push(thread)
    return thread
  }
}

interface Thread {
  waiting(): number
  ask<Row>(text: string, parameters: readonly unknown[]): Promise<Row[]>
  end(): void
}

function startThread(path: string): Thread {
  const worker = new Worker(entryPath('database/sqlite-reader'))
  worker.unref()
  const open = new Map<number, PromiseWithResolvers<unknown[]>>()
  let count = 0
  let failure: Error | null = null

  worker.onmessage = ({ data }: MessageEvent<ReadReply>) => {
    const question = open.get(data.question)
    open.delete(data.question)
    if ('rows' in data) question?.resolve(data.rows)
    else question?.reject(Object.assign(new Error(data.message), { code: data.code }))
  }
  worker.onerror = (event) => {
    failure = new Error(`a reading thread failed: ${event.message}`)
    for (const question of open.values()) question.reject(failure)
    open.clear()
  }

  return {
    waiting: () => open.size,

    async ask<Row>(text: string, parameters: readonly unknown[]): Promise<Row[]> {
      if (failure !== null) throw failure
      const question = Promise.withResolvers<unknown[]>()
      const number = ++count
      open.set(number, question)
      const request: ReadRequest = { question: number, path, text, parameters }
      worker.postMessage(request)
      // Thread messages carry no row types.
      return (await question.promise) as Row[]
    },

    end() {
      worker.terminate()
      for (const question of open.values()) question.reject(new Error('the database was closed'))
      open.clear()
    },
  }
}

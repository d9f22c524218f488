import type { ReadReply, ReadRequest } from './sqlite-reader-messages.ts'

/** Threads that read the database beside the one that serves requests. */
export interface Readers {
  all<Row>(text: string, parameters: readonly unknown[]): Promise<Row[]>
  close(): void
}

/** As many as an answer has independent halves: the page and the count. */
const MOST_THREADS = 2

/** Nothing is started before the first question: most hosts never ask one that takes long. */
export function createReaders(path: string): Readers {
  const threads: Thread[] = []

  return {
    async all<Row>(text: string, parameters: readonly unknown[]): Promise<Row[]> {
      const idle = threads.find((thread) => thread.waiting() === 0)
      if (idle !== undefined) return idle.ask<Row>(text, parameters)
      if (threads.length < MOST_THREADS) {
        const thread = startThread(path)
        threads.push(thread)
        return thread.ask<Row>(text, parameters)
      }
      const [first, ...others] = threads
      if (first === undefined) throw new Error('there is no thread to read with')
      const calmest = others.reduce((best, each) => (each.waiting() < best.waiting() ? each : best), first)
      return calmest.ask<Row>(text, parameters)
    },

    close() {
      for (const thread of threads) thread.end()
    },
  }
}

interface Thread {
  /** How many questions are not answered yet. */
  waiting(): number
  ask<Row>(text: string, parameters: readonly unknown[]): Promise<Row[]>
  end(): void
}

function startThread(path: string): Thread {
  const worker = new Worker(new URL('./sqlite-reader.ts', import.meta.url))
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
      // What a query answers has the shape it was written for; that cannot be seen through a thread's messages.
      return (await question.promise) as Row[]
    },

    end() {
      worker.terminate()
      for (const question of open.values()) question.reject(new Error('the database was closed'))
      open.clear()
    },
  }
}

/** Copies the contents of a backup on several threads, since one hashes and encrypts more slowly than disks read and write. */
import { availableParallelism } from 'node:os'
import { StoreFailure } from '../../blobs/blob-store.ts'
import { entryPath } from '../../program/entries.ts'
import type { CarriedBlob, Carrier, Known } from '../relocation/blob-carrying.ts'
import type { BlobToMove } from '../relocation/relocated-blobs.rows.ts'
import type { CarryingReply, CarryingRequest, ThreadOrder } from './carrying-messages.ts'

const MOST_THREADS = 4
/** Contents that one thread has under way before another one is started. */
const ENOUGH_FOR_ONE = 2

export interface CarryingThreads extends Carrier {
  /** Ends the threads, once what is under way has ended. */
  close(): Promise<void>
}

/** Starts threads as they are needed. `onBytes` is called with the progress. */
export function startCarryingThreads(order: ThreadOrder, onBytes: (bytes: number) => void): CarryingThreads {
  // A bounded rate is that of one thread.
  const most = order.rate === null ? Math.max(1, Math.min(MOST_THREADS, availableParallelism())) : 1
  const threads: CarryingThread[] = []

  function idlest(): CarryingThread {
    const [first, ...others] = threads
    const found = others.reduce((one, other) => (other.underWay < (one?.underWay ?? 0) ? other : one), first)
    if (found !== undefined && (found.underWay < ENOUGH_FOR_ONE || threads.length === most)) return found
    const started = new CarryingThread(order, onBytes)
    threads.push(started)
    return started
  }

  return {
    carry: (blob, known, signal) => idlest().carry(blob, known, signal),
    async close() {
      await Promise.all(threads.map((thread) => thread.close()))
    },
  }
}

type Turn = ReturnType<typeof Promise.withResolvers<CarriedBlob>>

class CarryingThread {
  readonly #worker = new Worker(entryPath('operations/backup/carrying-thread'))
  readonly #turns = new Map<BlobToMove['id'], Turn>()
  #failure: Error | null = null

  constructor(order: ThreadOrder, onBytes: (bytes: number) => void) {
    this.#worker.onmessage = ({ data }: MessageEvent<CarryingReply>) => {
      if (data.kind === 'bytes') onBytes(data.bytes)
      else this.#ended(data)
    }
    this.#worker.onerror = ({ message }) => {
      this.#failure = new Error(`a thread of the backup failed: ${message}`)
      for (const turn of this.#turns.values()) turn.reject(this.#failure)
    }
    this.#send({ kind: 'open', ...order })
  }

  get underWay(): number {
    return this.#turns.size
  }

  /** A content is under way once at a time. */
  async carry(blob: BlobToMove, known: Known, signal: AbortSignal): Promise<CarriedBlob> {
    if (this.#failure !== null) throw this.#failure
    signal.throwIfAborted()
    const turn = Promise.withResolvers<CarriedBlob>()
    this.#turns.set(blob.id, turn)
    this.#send({ kind: 'carry', blob, known })
    const stop = () => this.#send({ kind: 'stop' })
    signal.addEventListener('abort', stop, { once: true })
    try {
      return await turn.promise
    } catch (error) {
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', stop)
      this.#turns.delete(blob.id)
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#turns.values()].map(({ promise }) => promise))
    this.#worker.terminate()
  }

  #ended(data: Exclude<CarryingReply, { kind: 'bytes' }>): void {
    const turn = this.#turns.get(data.id)
    if (data.kind === 'end') turn?.resolve(data.end)
    else turn?.reject(failureOf(data))
  }

  #send(request: CarryingRequest): void {
    this.#worker.postMessage(request)
  }
}

function failureOf({ message, reason }: Extract<CarryingReply, { kind: 'failure' }>): Error {
  const cause = new Error(message)
  return reason === null ? cause : new StoreFailure(reason, { cause })
}

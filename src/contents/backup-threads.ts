import { availableParallelism } from 'node:os'
import { StoreFailure, type StoreFailureReason } from '../blobs/blob-store.ts'
import type { StorePlace } from '../config.ts'
import { entryPath } from '../program/entries.ts'
import type { StoreSettings } from '../storage.ts'
import type { BlobToMove } from './copied.rows.ts'
import type { BlobCopier, CopiedBlob, KnownBlob } from './copying.ts'

export interface CopyThreadOptions {
  readonly config: StoreSettings
  readonly place: StorePlace
  readonly key: string | null
  readonly isSyncedLater: boolean
  /** Bytes a second. */
  readonly rate: number | null
}

export type CopyRequest =
  | ({ readonly kind: 'open' } & CopyThreadOptions)
  | { readonly kind: 'copy'; readonly blob: KnownBlob }
  | { readonly kind: 'stop' }

export type CopyReply =
  | { readonly kind: 'bytes'; readonly bytes: number }
  | { readonly kind: 'end'; readonly id: BlobToMove['id']; readonly end: CopiedBlob }
  /** `reason`: of a StoreFailure. */
  | {
      readonly kind: 'failure'
      readonly id: BlobToMove['id']
      readonly message: string
      readonly reason: StoreFailureReason | null
    }

/** Several threads: one hashes and encrypts more slowly than disks read and write. */

const MOST_THREADS = 4
const ENOUGH_FOR_ONE = 2

export interface CopyThreads extends BlobCopier {
  close(): Promise<void>
}

export function startCopyThreads(order: CopyThreadOptions, onBytes: (bytes: number) => void): CopyThreads {
  // The rate limit is per thread.
  const most = order.rate === null ? Math.max(1, Math.min(MOST_THREADS, availableParallelism())) : 1
  const threads: CopyThread[] = []

  function idlest(): CopyThread {
    const [first, ...others] = threads
    const found = others.reduce((one, other) => (other.underWay < (one?.underWay ?? 0) ? other : one), first)
    if (found !== undefined && (found.underWay < ENOUGH_FOR_ONE || threads.length === most)) return found
    const started = new CopyThread(order, onBytes)
    threads.push(started)
    return started
  }

  return {
    copy: (blob, signal) => idlest().copy(blob, signal),
    async close() {
      await Promise.all(threads.map((thread) => thread.close()))
    },
  }
}

type PendingCopy = ReturnType<typeof Promise.withResolvers<CopiedBlob>>

class CopyThread {
  readonly #worker = new Worker(entryPath('contents/backup-thread'))
  readonly #pending = new Map<BlobToMove['id'], PendingCopy>()
  #failure: Error | null = null

  constructor(order: CopyThreadOptions, onBytes: (bytes: number) => void) {
    this.#worker.onmessage = ({ data }: MessageEvent<CopyReply>) => {
      if (data.kind === 'bytes') onBytes(data.bytes)
      else this.#ended(data)
    }
    this.#worker.onerror = ({ message }) => {
      this.#failure = new Error(`a thread of the backup failed: ${message}`)
      for (const pending of this.#pending.values()) pending.reject(this.#failure)
    }
    this.#send({ kind: 'open', ...order })
  }

  get underWay(): number {
    return this.#pending.size
  }

  /** The caller never copies one content twice at once. */
  async copy(blob: KnownBlob, signal: AbortSignal): Promise<CopiedBlob> {
    if (this.#failure !== null) throw this.#failure
    signal.throwIfAborted()
    const pending = Promise.withResolvers<CopiedBlob>()
    this.#pending.set(blob.id, pending)
    this.#send({ kind: 'copy', blob })
    const stop = () => this.#send({ kind: 'stop' })
    signal.addEventListener('abort', stop, { once: true })
    try {
      return await pending.promise
    } catch (error) {
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', stop)
      this.#pending.delete(blob.id)
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#pending.values()].map(({ promise }) => promise))
    this.#worker.terminate()
  }

  #ended(data: Exclude<CopyReply, { kind: 'bytes' }>): void {
    const pending = this.#pending.get(data.id)
    if (data.kind === 'end') pending?.resolve(data.end)
    else pending?.reject(failureOf(data))
  }

  #send(request: CopyRequest): void {
    this.#worker.postMessage(request)
  }
}

function failureOf({ message, reason }: Extract<CopyReply, { kind: 'failure' }>): Error {
  const cause = new Error(message)
  return reason === null ? cause : new StoreFailure(reason, { cause })
}

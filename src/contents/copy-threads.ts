/** Copies single contents between stores, on several threads: one hashes and encrypts more slowly than disks work. */
import { availableParallelism } from 'node:os'
import { type BlobStore, StoreFailure, type StoreFailureReason } from '../blobs/blob-store.ts'
import type { Config, StorePlace } from '../config.ts'
import type { Damage } from '../database/schema.ts'
import { SECOND } from '../domain/clock.ts'
import { entryPath } from '../program/entries.ts'
import type { StoreSettings } from '../storage.ts'
import type { BlobToMove } from './copied.rows.ts'
import type { Throttle } from './pace.ts'
import { copyContent, readDamage, sizeDamage } from './reading.ts'

const TRIES = 4

/** What is known of a content at the target: copied by an earlier run, and listed there; null without a listing. */
export interface KnownBlob extends BlobToMove {
  readonly isRemembered: boolean
  readonly isListed: boolean | null
}

export type CopiedBlob =
  | { readonly kind: 'there' | 'copied' }
  | { readonly kind: 'damaged'; readonly reason: string }

export interface BlobCopier {
  /** Retries: a short outage does not end a long run. Throws StoreFailure when a store stays unavailable. */
  copy(blob: KnownBlob, signal: AbortSignal): Promise<CopiedBlob>
}

export interface CopyRoute {
  readonly from: Pick<BlobStore, 'read' | 'size'>
  readonly to: Pick<BlobStore, 'create' | 'read' | 'size' | 'remove'>
  /** Whether an earlier run may have copied contents that are not listed. */
  readonly goesOn: boolean
  /** Whether to read each blob back before it counts as copied: required before `from` is given up. */
  readonly readsBack: boolean
  readonly throttle?: Throttle | undefined
  readonly pause: (milliseconds: number) => Promise<void>
  /** Progress in bytes: half when written, half when read back. */
  readonly onBytes: (bytes: number) => void
}

/** Copied: what was read from `from`, and with `readsBack` from `to`, has the SHA-256 of its row. */
export function createBlobCopier(route: CopyRoute): BlobCopier {
  return {
    async copy(blob, signal) {
      for (let tries = 1; ; tries++) {
        try {
          const mayBeThere = (blob.isListed ?? route.goesOn) || tries > 1
          return await copyBlob(route, blob, mayBeThere, signal)
        } catch (error) {
          const isPassing = error instanceof StoreFailure && error.reason === 'away'
          if (!isPassing || tries === TRIES) throw error
        }
        await route.pause(tries * SECOND)
        signal.throwIfAborted()
      }
    },
  }
}

async function copyBlob(
  { from, to, throttle, readsBack, onBytes }: CopyRoute,
  blob: KnownBlob,
  mayBeThere: boolean,
  signal: AbortSignal,
): Promise<CopiedBlob> {
  const onChunk = (bytes: number) => onBytes(bytes / 2)
  if (mayBeThere) {
    const isWhole = (await sizeDamage(to, blob)) === null
    if (isWhole && (blob.isRemembered || (await readDamage(to, blob, { signal })) === null)) {
      return { kind: 'there' }
    }
    // An incomplete blob of an earlier attempt would prevent the write.
    await to.remove(blob.key)
  }
  const departure = { signal, onChunk, throttle, isLenient: true }
  const damage = await copyContent(from, blob, to, blob.key, departure)
  if (damage !== null) return { kind: 'damaged', reason: await reasonOf(from, blob, damage) }
  if (!readsBack) onBytes(blob.size / 2)
  else if ((await readDamage(to, blob, { signal, onChunk })) !== null) {
    await to.remove(blob.key)
    throw new Error(`the new store returned other bytes than were written to it (blob ${blob.key})`)
  }
  return { kind: 'copied' }
}

async function reasonOf(from: CopyRoute['from'], { key, size }: BlobToMove, damage: Damage): Promise<string> {
  if (damage === 'missing') return 'is missing'
  if (damage === 'unreadable') return 'cannot be read'
  const stored = damage === 'size' ? await from.size(key) : size
  return stored === size
    ? 'has other bytes than it was uploaded with'
    : `has ${stored} bytes instead of ${size}`
}

/** A store as each thread opens it: of an installation, or a place beside it, encrypted by `key`. */
export type StoreAddress =
  | { readonly kind: 'installation'; readonly config: StoreSettings }
  | { readonly kind: 'place'; readonly place: StorePlace; readonly key: string | null }

/** Without what threads do not need. */
export function addressOf({ s3, dataDir, groupRead, maxFileSize }: Config): StoreAddress {
  return { kind: 'installation', config: { s3, dataDir, groupRead, maxFileSize } }
}

export interface CopyOrder extends Pick<CopyRoute, 'goesOn' | 'readsBack'> {
  readonly from: StoreAddress
  readonly to: StoreAddress
  /** As in `openPlace`, of `to`. */
  readonly isSyncedLater: boolean
  /** Bytes a second. */
  readonly rate: number | null
}

export type CopyRequest =
  | ({ readonly kind: 'open' } & CopyOrder)
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

const MOST_THREADS = 4
const ENOUGH_FOR_ONE = 2

export interface CopyThreads extends BlobCopier {
  close(): Promise<void>
}

export function startCopyThreads(order: CopyOrder, onBytes: (bytes: number) => void): CopyThreads {
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
  readonly #worker = new Worker(entryPath('contents/copy-thread'))
  readonly #pending = new Map<BlobToMove['id'], PendingCopy>()
  #failure: Error | null = null

  constructor(order: CopyOrder, onBytes: (bytes: number) => void) {
    this.#worker.onmessage = ({ data }: MessageEvent<CopyReply>) => {
      if (data.kind === 'bytes') onBytes(data.bytes)
      else if (data.kind === 'end') this.#pending.get(data.id)?.resolve(data.end)
      else this.#pending.get(data.id)?.reject(failureOf(data))
    }
    this.#worker.onerror = ({ message }) => {
      this.#failure = new Error(`a thread that copies failed: ${message}`)
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

  #send(request: CopyRequest): void {
    this.#worker.postMessage(request)
  }
}

function failureOf({ message, reason }: Extract<CopyReply, { kind: 'failure' }>): Error {
  const cause = new Error(message)
  return reason === null ? cause : new StoreFailure(reason, { cause })
}

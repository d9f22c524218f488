/** A blob store in memory whose every operation waits for its turn. */

import { completedBlob } from '../../src/blobs/adapters.ts'
import {
  assertSize,
  type BlobChunks,
  BlobDamaged,
  BlobMissing,
  type BlobStore,
  type BlobWriter,
  type KeptBlob,
  type ListedBlob,
  type MarkCopy,
  type ResumableWriter,
  StoreFailure,
} from '../../src/blobs/blob-store.ts'
import type { BlobKey, BlobProgress } from '../../src/domain/ids.ts'
import type { MemoryStore, StoredEntry } from './memory-store.ts'
import type { Turns } from './turns.ts'

const PROGRESS = 'memory' as BlobProgress
const FREE = 1024 ** 3
/** Least bytes of a chunk, and most chunks of a blob: reads of small contents are interrupted often. */
const PIECE = 700
const MOST_PIECES = 16

/** Opens the store for a life. */
export function openMemoryBlobs(
  store: MemoryStore,
  turns: Pick<Turns, 'turn'>,
  now: () => number,
): BlobStore {
  store.dropUnfinished()
  return new MemoryBlobs(store, turns, now)
}

class MemoryBlobs implements BlobStore {
  readonly dropsUnfinished = true
  readonly readsGrowing = true
  readonly #store: MemoryStore
  readonly #turns: Pick<Turns, 'turn'>
  readonly #now: () => number
  /** Services of worlds write none. */
  #secondMark: string | null = null

  constructor(store: MemoryStore, turns: Pick<Turns, 'turn'>, now: () => number) {
    this.#store = store
    this.#turns = turns
    this.#now = now
  }

  create(key: BlobKey): Promise<BlobWriter> {
    return this.#doing('create', key, () => {
      if (this.#store.entries.has(key)) throw new StoreFailure('broken')
      const entry: StoredEntry = { place: 'temporary', bytes: Buffer.alloc(0), synced: 0, at: 0 }
      this.#store.entries.set(key, entry)
      this.#store.version++
      let isOver = false
      return {
        write: async (chunk) => {
          if (isOver) throw new StoreFailure('broken')
          await this.#append(key, entry, chunk)
        },
        complete: async (recorded) => {
          if (isOver) throw new StoreFailure('broken')
          await this.#sync(key, entry)
          await recorded
          return this.#publish(key, entry)
        },
        abort: () => {
          isOver = true
          return this.remove(key)
        },
      }
    })
  }

  /** Some of the bytes may be there after a kill or a power cut, and the name may be gone. */
  async put(key: BlobKey, bytes: Uint8Array): Promise<void> {
    const { entries } = this.#store
    const entry: StoredEntry = { place: 'finished', bytes: Buffer.alloc(0), synced: 0, at: this.#now() }
    const settle = await this.#doing('create', key, () => {
      if (entries.has(key)) throw new StoreFailure('broken')
      return this.#store.volatile(
        () => entries.set(key, entry),
        () => entries.get(key) === entry && entries.delete(key),
      )
    })
    await this.#append(key, entry, bytes)
    await this.#sync(key, entry)
    await this.#doing('sync name', key, settle)
  }

  resume(key: BlobKey, kept: KeptBlob | null): Promise<ResumableWriter> {
    return this.#doing('resume', key, () => {
      const { entries } = this.#store
      const present = entries.get(key)
      if (kept === null) {
        if (present !== undefined) throw new StoreFailure('broken')
        const entry: StoredEntry = { place: 'resumable', bytes: Buffer.alloc(0), synced: 0, at: 0 }
        const settle = this.#store.volatile(
          () => entries.set(key, entry),
          () => entries.get(key) === entry && entries.delete(key),
        )
        return this.#session(key, entry, null, settle)
      }
      if (present === undefined) throw new BlobMissing(key)
      if (present.place === 'finished') {
        assertSize(key, present.bytes.length, kept.offset)
        return completedBlob(kept, () => this.#doing('sync name', key, () => {}))
      }
      if (present.bytes.length < kept.offset) throw new BlobDamaged(key, present.bytes.length, kept.offset)
      present.bytes = present.bytes.subarray(0, kept.offset)
      present.synced = Math.min(present.synced, kept.offset)
      return this.#session(key, present, kept, () => {})
    })
  }

  #session(key: BlobKey, entry: StoredEntry, before: KeptBlob | null, settle: () => void): ResumableWriter {
    let kept = before
    let isOpen = true
    const assertOpen = () => {
      if (!isOpen) throw new StoreFailure('broken')
    }
    return {
      write: async (chunk) => {
        assertOpen()
        await this.#append(key, entry, chunk)
      },
      keep: async () => {
        assertOpen()
        await this.#sync(key, entry)
        settle()
        kept = { offset: entry.bytes.length, progress: PROGRESS }
        return kept
      },
      safe: () => null,
      async makeReadable() {},
      complete: async () => {
        assertOpen()
        if (kept === null) await this.#sync(key, entry)
        else if (kept.offset !== entry.bytes.length) throw new Error('all has to be kept to complete it')
        const size = await this.#publish(key, entry)
        settle()
        return size
      },
      close: async () => {
        isOpen = false
      },
    }
  }

  read(key: BlobKey, start: number, end: number, size?: number): Promise<BlobChunks> {
    return this.#doing('open', key, () => {
      const { bytes } = this.#finished(key, size)
      if (end > bytes.length) throw new StoreFailure('broken')
      const piece = Math.max(PIECE, Math.ceil((end - start) / MOST_PIECES))
      let at = start
      return {
        next: async () => {
          if (at >= end) return null
          return this.#doing('read', key, () => {
            const chunk = Buffer.from(bytes.subarray(at, Math.min(end, at + piece)))
            at += chunk.length
            return chunk
          })
        },
        cancel: () => {
          at = end
        },
        release() {},
      }
    })
  }

  async openGrowing(): Promise<never> {
    throw new StoreFailure('broken')
  }

  size(key: BlobKey): Promise<number | null> {
    return this.#doing('size', key, () => this.#entry(key)?.bytes.length ?? null)
  }

  async remove(key: BlobKey): Promise<void> {
    const settle = await this.#doing('remove', key, () => this.#drop(key))
    await this.#doing('sync name', key, settle)
  }

  #drop(key: BlobKey): () => void {
    const { entries } = this.#store
    const entry = entries.get(key)
    if (entry === undefined) return () => {}
    return this.#store.volatile(
      () => entries.delete(key),
      () => entries.has(key) || entries.set(key, entry),
    )
  }

  async removeAll(keys: readonly BlobKey[], failed: (error: unknown) => void): Promise<BlobKey[]> {
    const removed: BlobKey[] = []
    for (const key of keys) {
      await this.remove(key).then(() => removed.push(key), failed)
    }
    return removed
  }

  async endForgotten(): Promise<void> {}

  async *list(): AsyncIterable<ListedBlob> {
    yield* await this.#doing('list', '', () =>
      [...this.#store.entries.keys()].map((key) => {
        const entry = this.#entry(key)
        return { key, size: entry?.bytes.length ?? null, storedAt: entry?.at ?? null }
      }),
    )
  }

  freeSpace(): Promise<number> {
    return this.#doing('free space', '', () => FREE)
  }

  probe(): Promise<void> {
    return this.#doing('probe', '', () => {})
  }

  readMark(copy: MarkCopy = 'mark'): Promise<string | null> {
    if (copy !== 'mark') return this.#doing('read mark', '', () => this.#secondMark)
    return this.#doing('read mark', '', () => this.#store.mark)
  }

  async writeMark(mark: string, copy: MarkCopy = 'mark'): Promise<void> {
    if (copy !== 'mark') {
      this.#secondMark = mark
      return
    }
    const before = this.#store.mark
    const write = () =>
      this.#store.volatile(
        () => this.#store.setMark(mark),
        () => this.#store.setMark(before),
      )
    const settle = await this.#doing('write mark', '', write)
    await this.#doing('sync name', '', settle)
  }

  async link(): Promise<null> {
    return null
  }

  #entry(key: BlobKey): StoredEntry | null {
    const entry = this.#store.entries.get(key)
    return entry?.place === 'finished' ? entry : null
  }

  #finished(key: BlobKey, size?: number): StoredEntry {
    const entry = this.#entry(key)
    if (entry === null) throw new BlobMissing(key)
    if (size !== undefined) assertSize(key, entry.bytes.length, size)
    return entry
  }

  #append(key: BlobKey, entry: StoredEntry, chunk: Uint8Array): Promise<void> {
    const copy = Buffer.from(chunk)
    return this.#doing('write', key, () => {
      entry.bytes = Buffer.concat([entry.bytes, copy])
    })
  }

  #sync(key: BlobKey, entry: StoredEntry): Promise<void> {
    return this.#doing('sync', key, () => {
      entry.synced = entry.bytes.length
    })
  }

  async #publish(key: BlobKey, entry: StoredEntry): Promise<number> {
    const { place } = entry
    const rename = () =>
      this.#store.volatile(
        () => Object.assign(entry, { place: 'finished', at: this.#now() }),
        () => Object.assign(entry, { place }),
      )
    const settle = await this.#doing('rename', key, rename)
    await this.#doing('sync name', key, settle)
    return entry.bytes.length
  }

  /** Waits for its turn, and fails as it is told to. */
  async #doing<T>(what: string, key: BlobKey | '', work: () => T): Promise<T> {
    const fault = await this.#turns.turn('store', `${what} ${key.slice(0, 6)}`)
    if (fault?.when === 'before') throw failureOf(fault.reason)
    const result = work()
    if (fault !== null) throw failureOf(fault.reason)
    return result
  }
}

function failureOf(reason: 'io' | 'full' | 'away'): StoreFailure {
  return new StoreFailure(reason === 'io' ? 'broken' : reason)
}

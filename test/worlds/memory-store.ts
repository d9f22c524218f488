/** What a store in memory holds, and what of it would survive a power cut. */
import type { BlobKey } from '../../src/domain/ids.ts'
import type { Chance } from '../support/chance.ts'

/** As the store on a disk has it: what is written in one session, in several, and what is complete. */
export interface StoredEntry {
  place: 'temporary' | 'resumable' | 'finished'
  bytes: Buffer
  /** Every byte before it would survive a power cut. */
  synced: number
  /** When it was completed. */
  at: number
}

/** What is in the store, from one life to the next. */
export class MemoryStore {
  readonly entries = new Map<BlobKey, StoredEntry>()
  /** Takes back what was done and would not survive a power cut. */
  readonly #undone = new Set<() => void>()
  #mark: string | null = null
  /** Grows with every change. */
  version = 0

  /** A process that has the store alone drops what was being written in one session. */
  dropUnfinished(): void {
    for (const [key, { place }] of this.entries) if (place === 'temporary') this.entries.delete(key)
  }

  /** Does something that would not survive a power cut before the returned function was called. */
  volatile(change: () => void, undo: () => void): () => void {
    change()
    this.version++
    this.#undone.add(undo)
    return () => this.#undone.delete(undo)
  }

  get mark(): string | null {
    return this.#mark
  }

  setMark(mark: string | null): void {
    this.#mark = mark
  }

  /** The latest changes go first; of bytes that were not synced some are lost and others are not what was written. */
  powerCut(chance: Chance): void {
    for (const undo of [...this.#undone].reverse()) if (chance.fraction() < 0.5) undo()
    for (const entry of this.entries.values()) {
      if (entry.place === 'temporary' || entry.synced >= entry.bytes.length) continue
      const length = chance.whole(entry.synced, entry.bytes.length)
      const junk = chance.bytes(length - entry.synced)
      entry.bytes = Buffer.concat([entry.bytes.subarray(0, entry.synced), junk])
    }
    this.kill()
  }

  /** The process ends, the machine goes on: all that was done comes to the disk sooner or later. */
  kill(): void {
    this.#undone.clear()
    this.version++
  }
}

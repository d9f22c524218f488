import { type BinNumber, putIntoBin, restoreFromBin } from './bin-client.ts'
import { BATCH, moveFiles, moveFolders } from './client.ts'
import { type Entry, filesOf, foldersOf, type Key, type Place } from './entry.ts'
import type { Batch, Work } from './operations.ts'

/** What an operation does, as it is told to the person. */
export type Deed =
  /** `to`: where to. */
  | { readonly kind: 'move'; readonly to: Place }
  /** Into the bin. */
  | { readonly kind: 'remove' }
  | { readonly kind: 'restore' }

/** Moves entries to a place, and back to where each of them was. */
export function moving(entries: readonly Entry[], to: Place): Work<Deed> {
  return {
    kind: { kind: 'move', to },
    batches: moves(entries, to),
    undo() {
      const origins = Map.groupBy(entries, ({ place }) => place)
      const [origin = to] = origins.keys()
      return {
        kind: { kind: 'move', to: origin },
        batches: [...origins].flatMap(([place, some]) => moves(some, place)),
        undo: null,
      }
    },
  }
}

function moves(entries: readonly Entry[], to: Place): Batch[] {
  return [
    ...inBatches(foldersOf(entries)).map((some) => ({
      count: some.length,
      run: () => moveFolders(some, to),
    })),
    ...inBatches(filesOf(entries)).map((some) => ({ count: some.length, run: () => moveFiles(some, to) })),
  ]
}

/** Puts entries into the bin, and brings back those that are there. */
export function removing(entries: readonly Entry[]): Work<Deed> {
  const binned = new Map<Key, BinNumber>()
  return {
    kind: { kind: 'remove' },
    batches: inBatches(entries).map((some) => {
      // Of what was sent before and not answered, all may be in the bin already.
      let isRepeated = false
      return {
        count: some.length,
        async run() {
          const was = isRepeated
          isRepeated = true
          return putIntoBin(some, binned, was)
        },
      }
    }),
    undo: () => ({
      kind: { kind: 'restore' },
      batches: inBatches(entries).map((some) => ({
        count: some.length,
        run: () => restoreFromBin(some, binned),
      })),
      undo: null,
    }),
  }
}

function inBatches<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / BATCH) }, (_, index) =>
    all.slice(index * BATCH, (index + 1) * BATCH),
  )
}

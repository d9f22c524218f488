import { type BinNumber, putIntoBin, restoreFromBin } from './bin/bin-client.ts'
import { BATCH_SIZE, moveFiles, moveFolders, renameBack } from './client.ts'
import { type Entry, filesOf, foldersOf, type Key, type Place } from './entry.ts'
import type { Batch, Work } from './operations.ts'

export type OperationDescription =
  | { readonly kind: 'move'; readonly to: Place }
  | { readonly kind: 'remove'; readonly binned: ReadonlyMap<Key, BinNumber> }
  | { readonly kind: 'restore' }
  | { readonly kind: 'rename'; readonly name: string }

export function moveWork(entries: readonly Entry[], to: Place): Work<OperationDescription> {
  const sent = new Set<Entry>()
  return {
    kind: { kind: 'move', to },
    batches: moves(entries, to, sent),
    undo() {
      const origins = Map.groupBy(sent, ({ place }) => place)
      const [origin = to] = origins.keys()
      return {
        kind: { kind: 'move', to: origin },
        batches: [...origins].flatMap(([place, some]) => moves(some, place, new Set())),
        undo: null,
      }
    },
  }
}

/** Records requested entries in `sent` before the answer. */
function moves(entries: readonly Entry[], to: Place, sent: Set<Entry>): Batch[] {
  return [
    ...inBatches(foldersOf(entries)).map((some) => noting(some, sent, () => moveFolders(some, to))),
    ...inBatches(filesOf(entries)).map((some) => noting(some, sent, () => moveFiles(some, to))),
  ]
}

function noting(some: readonly Entry[], sent: Set<Entry>, run: Batch['run']): Batch {
  return {
    count: some.length,
    run() {
      for (const entry of some) sent.add(entry)
      return run()
    },
  }
}

export function removeWork(entries: readonly Entry[]): Work<OperationDescription> {
  const binned = new Map<Key, BinNumber>()
  const sent = new Set<Entry>()
  return {
    kind: { kind: 'remove', binned },
    batches: inBatches(entries).map((some) => {
      // An unanswered request may have binned them already.
      let isRepeated = false
      return noting(some, sent, async () => {
        const was = isRepeated
        isRepeated = true
        const failed = await putIntoBin(some, binned, was)
        // Refused entries stayed where they were.
        if (!was) for (const entry of some) if (!binned.has(entry.key)) sent.delete(entry)
        return failed
      })
    }),
    undo: () => ({
      kind: { kind: 'restore' },
      batches: inBatches([...sent]).map((some) => ({
        count: some.length,
        run: () => restoreFromBin(some, binned),
      })),
      undo: null,
    }),
  }
}

/** Already done: listed so that it can be undone. */
export function renameWork(entry: Entry, name: string): Work<OperationDescription> {
  return {
    kind: { kind: 'rename', name },
    batches: [{ count: 1, run: async () => [] }],
    undo: () => ({
      kind: { kind: 'rename', name: entry.name },
      batches: [{ count: 1, run: () => renameBack(entry) }],
      undo: null,
    }),
  }
}

function inBatches<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / BATCH_SIZE) }, (_, index) =>
    all.slice(index * BATCH_SIZE, (index + 1) * BATCH_SIZE),
  )
}

/** Whether undo has nothing left to restore once these are deleted for good; null: the whole bin. */
export function isLostWith(deed: OperationDescription, deleted: BinNumber | null): boolean {
  if (deed.kind !== 'remove') return false
  return deleted === null || [...deed.binned.values()].every((number) => number === deleted)
}

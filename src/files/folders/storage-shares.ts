import type { Database } from '../../database/database.ts'
import { type Clock, MINUTE } from '../../domain/clock.ts'
import type { FolderId } from '../../domain/ids.ts'
import type { Reach } from '../../domain/reach.ts'
import { STORAGE_KINDS, type StorageKind, storageKindOf } from '../../domain/storage.ts'
import { folderById } from './folders.rows.ts'
import { resolvePlace } from './places.ts'
import {
  type FileTotals,
  type LargeFolder,
  largestFolders,
  totalsByType,
  totalsOfFolders,
} from './storage-shares.rows.ts'

export interface KindWeights {
  readonly at: number
  /** In the order of `STORAGE_KINDS`. */
  readonly kinds: readonly (FileTotals & { readonly kind: StorageKind })[]
}

export interface FolderWeights {
  /** Sums include the trees. */
  readonly heaviest: readonly LargeFolder[]
  readonly others: FileTotals
  readonly loose: FileTotals
}

/** Excludes the bin. */
export interface StorageShares {
  /** Throws Refusal FOLDER_NOT_FOUND when the reach is gone. */
  byKind(reach: Reach): Promise<KindWeights>
  /** Throws as `byKind`. */
  byFolder(reach: Reach): Promise<FolderWeights>
}

const MOST_FOLDERS = 10
/** Up to so many files are counted for each request. */
const FEW_FILES = 10_000
const FRESH_FOR = MINUTE

export function createStorageShares(db: Database, clock: Clock): StorageShares {
  /** Of large trees, by top folder. */
  const counts = new Map<FolderId, Count>()

  async function count(reach: Reach, top: FolderId): Promise<KindWeights> {
    const at = clock.now()
    const tree = reach.within === null ? null : top
    const sums = new Map<StorageKind, FileTotals>()
    for (const { type, files, bytes } of await totalsByType(db, { account: reach.account, tree })) {
      const kind = storageKindOf(type)
      sums.set(kind, sum(sums.get(kind) ?? NOTHING, { files, bytes }))
    }
    return { at, kinds: STORAGE_KINDS.map((kind) => ({ kind, ...(sums.get(kind) ?? NOTHING) })) }
  }

  function counted(reach: Reach, top: FolderId): Promise<KindWeights> {
    const now = clock.monotonic()
    for (const [tree, { startedAt }] of counts) {
      if (now - startedAt >= FRESH_FOR) counts.delete(tree)
    }
    const earlier = counts.get(top)
    if (earlier !== undefined) return earlier.weights
    const weights = count(reach, top)
    counts.set(top, { startedAt: now, weights })
    weights.catch(() => counts.delete(top))
    return weights
  }

  return {
    async byKind(reach) {
      const top = await folderById(db, await resolvePlace(db, reach, 'root'))
      return top.tree_files > FEW_FILES ? counted(reach, top.id) : count(reach, top.id)
    },

    async byFolder(reach) {
      const top = await folderById(db, await resolvePlace(db, reach, 'root'))
      const [heaviest, folders] = await Promise.all([
        largestFolders(db, top.id, MOST_FOLDERS),
        totalsOfFolders(db, top.id),
      ])
      const all = { files: top.tree_files, bytes: top.tree_bytes }
      return { heaviest, others: less(folders, heaviest.reduce(sum, NOTHING)), loose: less(all, folders) }
    },
  }
}

interface Count {
  readonly startedAt: number
  readonly weights: Promise<KindWeights>
}

const NOTHING: FileTotals = { files: 0, bytes: 0 }

function sum(a: FileTotals, b: FileTotals): FileTotals {
  return { files: a.files + b.files, bytes: a.bytes + b.bytes }
}

/** Changes between the two queries must not make the rest negative. */
function less(all: FileTotals, part: FileTotals): FileTotals {
  return { files: Math.max(0, all.files - part.files), bytes: Math.max(0, all.bytes - part.bytes) }
}

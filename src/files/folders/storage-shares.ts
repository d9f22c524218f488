import type { Database } from '../../database/database.ts'
import { wholeSum } from '../../database/differences.ts'
import type { Reach } from '../../domain/access.ts'
import { type Clock, MINUTE } from '../../domain/clock.ts'
import type { AccountId, FolderId, FolderIdentifier } from '../../domain/ids.ts'
import { STORAGE_KINDS, type StorageKind, storageKindOf } from '../../domain/storage.ts'
import { folderById, goingFolders, isClearing, treeOf } from './folders.rows.ts'
import { resolvePlace } from './places.ts'

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

const MOST_FOLDERS = 10
/** Up to so many files are counted for each request. */
const FEW_FILES = 10_000
const FRESH_FOR = MINUTE

/** Excludes the bin. */
export function createStorageShares(db: Database, clock: Clock) {
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
    /** Throws Refusal FOLDER_NOT_FOUND when the reach is gone. */
    async byKind(reach: Reach): Promise<KindWeights> {
      const top = await folderById(db, await resolvePlace(db, reach, 'root'))
      return top.tree_files > FEW_FILES ? counted(reach, top.id) : count(reach, top.id)
    },

    /** Throws as `byKind`. */
    async byFolder(reach: Reach): Promise<FolderWeights> {
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

interface FileTotals {
  readonly files: number
  readonly bytes: number
}

/** Reads every live file. */
async function totalsByType(
  db: Database,
  { account, tree }: { readonly account: AccountId; readonly tree: FolderId | null },
): Promise<(FileTotals & { readonly type: string })[]> {
  const files = db
    .selectFrom('files')
    .select((row) => ['type', row.fn.countAll<number>().as('files'), wholeSum(db, 'size').as('bytes')])
    .where('account_id', '=', account)
    .where('removed_at', 'is', null)
    .groupBy('type')
  const placed = tree === null ? files : files.where('folder_id', 'in', treeOf(tree))
  const isComplete = tree !== null || !(await isClearing(db, account))
  return db.readPool.rows(isComplete ? placed : placed.where('folder_id', 'not in', goingFolders(account)))
}

interface LargeFolder extends FileTotals {
  readonly identifier: FolderIdentifier
  readonly name: string
}

/** Sums include the trees. */
function largestFolders(db: Database, parent: FolderId, limit: number): Promise<LargeFolder[]> {
  return db.readPool.rows(
    db
      .selectFrom('folders')
      .select(['identifier', 'name', 'tree_files as files', 'tree_bytes as bytes'])
      .where('parent_id', '=', parent)
      .where('deleted_at', 'is', null)
      .where('tree_bytes', '>', 0)
      .orderBy('tree_bytes', 'desc')
      .orderBy('id')
      .limit(limit),
  )
}

/** Sums include the trees. */
async function totalsOfFolders(db: Database, parent: FolderId): Promise<FileTotals> {
  const [row] = await db.readPool.rows(
    db
      .selectFrom('folders')
      .select([wholeSum(db, 'tree_files').as('files'), wholeSum(db, 'tree_bytes').as('bytes')])
      .where('parent_id', '=', parent)
      .where('deleted_at', 'is', null),
  )
  return row ?? { files: 0, bytes: 0 }
}

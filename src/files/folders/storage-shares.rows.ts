import type { Database } from '../../database/database.ts'
import { wholeSum } from '../../database/differences.ts'
import type { AccountId, FolderId, FolderIdentifier } from '../../domain/ids.ts'
import { goingFolders, isClearing } from './folders.rows.ts'
import { treeOf } from './trees.rows.ts'

export interface FileTotals {
  readonly files: number
  readonly bytes: number
}

/** Reads every live file. */
export async function totalsByType(
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

export interface LargeFolder extends FileTotals {
  readonly identifier: FolderIdentifier
  readonly name: string
}

/** Sums include the trees. */
export function largestFolders(db: Database, parent: FolderId, limit: number): Promise<LargeFolder[]> {
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
export async function totalsOfFolders(db: Database, parent: FolderId): Promise<FileTotals> {
  const [row] = await db.readPool.rows(
    db
      .selectFrom('folders')
      .select([wholeSum(db, 'tree_files').as('files'), wholeSum(db, 'tree_bytes').as('bytes')])
      .where('parent_id', '=', parent)
      .where('deleted_at', 'is', null),
  )
  return row ?? { files: 0, bytes: 0 }
}

/** Corrects counts, each in one transaction under the locks of uploads and deletions. */
import { releaseBlob } from '../../core/blobs.rows.ts'
import type { Database, Trx } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { AccountId, BinEntryId, BlobId, FolderId } from '../../domain/ids.ts'
import { findWrongEntry, setEntrySums } from './bin-sums.rows.ts'
import { findFolderSums, setFolderSums } from './folder-sums.rows.ts'
import { findAccountSums, lockedContent, setAccountSums, setReferences } from './integrity.rows.ts'
import { accountFaults, folderFaults, type WrongSum } from './sums.ts'

export async function repairSum(db: Database, wrong: WrongSum, garbageDueAt: number): Promise<boolean> {
  switch (wrong.of) {
    case 'account':
      return inLockedAccount(db, wrong.id, (trx) => repairAccount(trx, wrong.id))
    case 'folder':
      return inLockedAccount(db, wrong.account, (trx) => repairFolder(trx, wrong.id))
    case 'entry':
      return inLockedAccount(db, wrong.account, (trx) => repairEntry(trx, wrong.account, wrong.id))
    case 'content':
      return repairReferences(db, wrong.id, garbageDueAt)
    case 'loose folders':
      return false
  }
}

function inLockedAccount(
  db: Database,
  id: AccountId,
  repair: (trx: Trx) => Promise<boolean>,
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    await lockAccount(trx, id)
    return repair(trx)
  })
}

async function repairAccount(trx: Trx, id: AccountId): Promise<boolean> {
  const sums = await findAccountSums(trx, id)
  if (sums === undefined || accountFaults(sums).length === 0) return false
  await setAccountSums(trx, sums)
  return true
}

/** Repairs the folder, then its ancestors as far as their counts change. */
async function repairFolder(trx: Trx, id: FolderId): Promise<boolean> {
  let isRepaired = false
  let next: FolderId | null = id
  while (next !== null) {
    const sums = await findFolderSums(trx, next)
    if (sums === undefined || folderFaults(sums).length === 0) break
    await setFolderSums(trx, sums)
    isRepaired = true
    next = sums.parent_id
  }
  return isRepaired
}

async function repairEntry(trx: Trx, account: AccountId, id: BinEntryId): Promise<boolean> {
  const entry = await findWrongEntry(trx, id)
  if (entry === undefined) return false
  await setEntrySums(trx, entry)
  await repairAccount(trx, account)
  return true
}

function repairReferences(db: Database, id: BlobId, garbageDueAt: number): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const content = await lockedContent(trx, id)
    if (content === undefined || content.refs === content.files) return false
    await setReferences(trx, id, Math.max(1, content.files))
    if (content.files === 0) await releaseBlob(trx, id, garbageDueAt)
    return true
  })
}

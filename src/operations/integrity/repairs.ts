/** Corrects counts by what they count, each in one transaction under the locks that uploads and deletions take. */
import { releaseBlob } from '../../core/blobs.rows.ts'
import type { Database } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { AccountId, BlobId } from '../../domain/ids.ts'
import { findAccountSums, lockedContent, setAccountSums, setReferences } from './integrity.rows.ts'
import { accountFaults, type WrongSum } from './sums.ts'

/** False where there is nothing to repair any more, or it cannot be. */
export async function repairSum(db: Database, wrong: WrongSum, garbageDueAt: number): Promise<boolean> {
  if (wrong.of === 'account') return repairAccount(db, wrong.id)
  if (wrong.of === 'content') return repairReferences(db, wrong.id, garbageDueAt)
  return false
}

function repairAccount(db: Database, id: AccountId): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    await lockAccount(trx, id)
    const sums = await findAccountSums(trx, id)
    if (sums === undefined || accountFaults(sums).length === 0) return false
    await setAccountSums(trx, id, { bytes: sums.bytes + sums.binned_bytes, files: sums.files })
    return true
  })
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

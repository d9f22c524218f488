import type { Database } from '../../database/database.ts'
import type { AccountId } from '../../domain/ids.ts'
import { type AccountSums, accountSumsAfter, findAccountSums, looseFolders } from './integrity.rows.ts'

const BATCH = 100

/** What does not add up, a line each: of accounts, of references to contents, of trees of folders. */
export async function wrongSums(db: Database): Promise<string[]> {
  const wrong: string[] = []
  let last: AccountId | null = null
  for (;;) {
    const batch: AccountSums[] = await accountSumsAfter(db, last, BATCH)
    const found = batch.at(-1)
    if (found === undefined) break
    last = found.id
    for (const account of batch) {
      if (faultsOf(account).length === 0) continue
      // A second look, since a tree may just have been deleted.
      const now = await findAccountSums(db, account.id)
      if (now !== undefined) wrong.push(...faultsOf(now))
    }
  }
  const loose = await looseFolders(db)
  if (loose > 0) wrong.push(`${loose} folders hang on no account's top level`)
  return wrong
}

function faultsOf(account: AccountSums): string[] {
  const { username, storage_used, files_count, files } = account
  // Counted at once, and the rows follow in steps.
  if (account.clearing > 0 || account.restoring > 0) return []
  const faults: string[] = []
  const bytes = account.bytes + account.binned_bytes
  if (storage_used !== bytes)
    faults.push(`${username}: ${storage_used} bytes are counted, its files have ${bytes}`)
  if (files_count !== files) faults.push(`${username}: ${files_count} files are counted, there are ${files}`)
  return faults
}

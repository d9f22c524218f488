import type { Database } from '../../database/database.ts'
import type { AccountId, BlobId } from '../../domain/ids.ts'
import {
  type AccountSums,
  accountSumsAfter,
  type ContentRow,
  findAccountSums,
  findContent,
  looseFolders,
} from './integrity.rows.ts'

const BATCH = 100

/** What does not add up, a line for each fault of an account, a content, or the trees of folders. */
export type WrongSum =
  | { readonly of: 'account'; readonly id: AccountId; readonly lines: readonly string[] }
  | { readonly of: 'content'; readonly id: BlobId; readonly lines: readonly string[] }
  | { readonly of: 'folders'; readonly lines: readonly string[] }

/** What does not add up of accounts and of trees of folders. */
export async function* wrongSums(db: Database): AsyncGenerator<WrongSum> {
  let last: AccountId | null = null
  for (;;) {
    const batch: AccountSums[] = await accountSumsAfter(db, last, BATCH)
    const found = batch.at(-1)
    if (found === undefined) break
    last = found.id
    for (const account of batch) {
      if (accountFaults(account).length === 0) continue
      // A second look, since a tree may just have been deleted.
      const now = await findAccountSums(db, account.id)
      const lines = now === undefined ? [] : accountFaults(now)
      if (lines.length > 0) yield { of: 'account', id: account.id, lines }
    }
  }
  const loose = await looseFolders(db)
  if (loose > 0) yield { of: 'folders', lines: [`${loose} folders hang on no account's top level`] }
}

export function accountFaults(account: AccountSums): string[] {
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

/** Contents whose references are counted wrong, at two looks. */
export async function* wrongReferences(
  db: Database,
  contents: readonly ContentRow[],
): AsyncGenerator<WrongSum> {
  for (const { id } of contents.filter(({ refs, files }) => refs !== files)) {
    const now = await findContent(db, id)
    if (now === undefined || now.refs === now.files) continue
    const line = `content ${now.key}: ${now.refs} references are counted, ${now.files} files refer to it`
    yield { of: 'content', id, lines: [line] }
  }
}

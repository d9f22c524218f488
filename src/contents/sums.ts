import { releaseBlob } from '../core/blobs.rows.ts'
import type { Database, Trx } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import type { AccountId, BinEntryId, BlobId, FolderId } from '../domain/ids.ts'
import { type BlobRow, findContent, lockedContent, setReferences } from './contents.rows.ts'
import {
  type AccountSums,
  accountSumsAfter,
  type EntrySums,
  type FolderSums,
  findAccountSums,
  findFolderSums,
  findWrongEntry,
  folderSumsAfter,
  orphanFolders,
  setAccountSums,
  setEntrySums,
  setFolderSums,
  wrongEntriesAfter,
} from './sums.rows.ts'
import { eachOf, inBatches } from './walk.ts'

const BATCH = 100

export type WrongSum =
  | { readonly of: 'account'; readonly id: AccountId; readonly lines: readonly string[] }
  | {
      readonly of: 'folder'
      readonly id: FolderId
      readonly account: AccountId
      readonly lines: readonly string[]
    }
  | {
      readonly of: 'entry'
      readonly id: BinEntryId
      readonly account: AccountId
      readonly lines: readonly string[]
    }
  | { readonly of: 'content'; readonly id: BlobId; readonly lines: readonly string[] }
  | { readonly of: 'loose folders'; readonly lines: readonly string[] }

/** Folders, then bins, then accounts: each is compared with the counts of the previous. */
export async function* wrongSums(db: Database): AsyncGenerator<WrongSum> {
  yield* wrongFolders(db)
  yield* wrongEntries(db)
  yield* wrongAccounts(db)
  const loose = await orphanFolders(db)
  if (loose > 0) {
    yield { of: 'loose folders', lines: [`${loose} folders hang on no account's top level`] }
  }
}

async function* wrongAccounts(db: Database): AsyncGenerator<WrongSum> {
  const read = (last: AccountSums | null) => accountSumsAfter(db, last?.id ?? null, BATCH)
  for await (const account of eachOf(inBatches(read))) {
    if (accountFaults(account).length === 0) continue
    // A tree may just have been deleted.
    const now = await findAccountSums(db, account.id)
    const lines = now === undefined ? [] : accountFaults(now)
    if (lines.length > 0) yield { of: 'account', id: account.id, lines }
  }
}

async function* wrongFolders(db: Database): AsyncGenerator<WrongSum> {
  const read = (last: FolderSums | null) => folderSumsAfter(db, last?.id ?? null, BATCH)
  for await (const folder of eachOf(inBatches(read))) {
    if (folderFaults(folder).length === 0) continue
    const now = await findFolderSums(db, folder.id)
    const lines = now === undefined ? [] : folderFaults(now)
    if (lines.length > 0) yield { of: 'folder', id: folder.id, account: folder.account_id, lines }
  }
}

async function* wrongEntries(db: Database): AsyncGenerator<WrongSum> {
  const read = (last: EntrySums | null) => wrongEntriesAfter(db, last?.id ?? null, BATCH)
  for await (const { id, account_id: account } of eachOf(inBatches(read))) {
    const now = await findWrongEntry(db, id)
    if (now !== undefined) yield { of: 'entry', id, account, lines: entryFaults(now) }
  }
}

function accountFaults(account: AccountSums): string[] {
  const { username, storage_used, files_count, files, binned_bytes, binned_entries } = account
  // Totals change at once, rows follow in steps.
  if (account.clearing > 0 || account.restoring > 0) return []
  const faults: string[] = []
  const bytes = account.bytes + binned_bytes
  if (storage_used !== bytes)
    faults.push(`${username}: ${storage_used} bytes are counted, its files have ${bytes}`)
  if (files_count !== files) faults.push(`${username}: ${files_count} files are counted, there are ${files}`)
  if (account.folders_count !== account.folders)
    faults.push(`${username}: ${account.folders_count} folders are counted, there are ${account.folders}`)
  if (account.bin_bytes !== binned_bytes)
    faults.push(`${username}: ${account.bin_bytes} bytes are counted in the bin, there are ${binned_bytes}`)
  if (account.bin_entries !== binned_entries)
    faults.push(
      `${username}: ${account.bin_entries} entries are counted in the bin, there are ${binned_entries}`,
    )
  return faults
}

function folderFaults(folder: FolderSums): string[] {
  const { username, identifier, parent_id, tree_height, below_height } = folder
  const of = `${username}: ${parent_id === null ? 'top level' : `folder ${identifier}`}`
  const compared = [
    ['files directly in it', folder.file_count, folder.files],
    ['files', folder.tree_files, folder.files + folder.below_files],
    ['bytes', folder.tree_bytes, folder.bytes + folder.below_bytes],
    ['folders', folder.tree_folders, folder.below_folders],
  ] as const
  const faults = compared
    .filter(([, counted, there]) => counted !== there)
    .map(([what, counted, there]) => `${of}: ${counted} ${what} are counted, there are ${there}`)
  // Deletions do not lower the height.
  if (tree_height < below_height)
    faults.push(`${of}: ${tree_height} levels are counted below it, there are ${below_height}`)
  return faults
}

function entryFaults({ id, username, files, bytes, held_files, held_bytes }: EntrySums): string[] {
  const counted = `${files} files with ${bytes} bytes are counted`
  return [`${username}: entry ${id} of the bin: ${counted}, there are ${held_files} with ${held_bytes}`]
}

/** Looks twice. */
export async function* wrongReferences(db: Database, contents: readonly BlobRow[]): AsyncGenerator<WrongSum> {
  for (const { id } of contents.filter(({ refs, files }) => refs !== files)) {
    const now = await findContent(db, id)
    if (now === undefined || now.refs === now.files) continue
    const line = `content ${now.key}: ${now.refs} references are counted, ${now.files} files refer to it`
    yield { of: 'content', id, lines: [line] }
  }
}

/** Corrects counts, each in one transaction under the locks of uploads and deletions. */
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

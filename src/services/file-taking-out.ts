import { changeTotals } from '../database/accounts.ts'
import { countBin, dropBinEntry, entryById, entryOfFile, isEmptied, takeFromEntry } from '../database/bin.ts'
import { noteChange } from '../database/changes.ts'
import { markRemoved, setRemoved } from '../database/file-removal.ts'
import { changeFiles, changeTree, folderById, folderChain } from '../database/folders.ts'
import type { FileOfContent } from '../database/refused-contents.ts'
import type { Db } from '../database/schema.ts'
import type { BinEntryId } from '../domain/ids.ts'

/**
 * Deletes a file for good wherever it is: alive, hidden as unused, in the bin by itself or with a folder, or coming back
 * from there. Every total is right afterwards. Its account is locked.
 */
export async function takeFileOut(trx: Db, file: FileOfContent, at: number): Promise<void> {
  if (file.removal === 'expired') return setRemoved(trx, [file], 'deleted', at)
  if (file.removal === 'binned') return outOfBin(trx, file, at)
  const chain = await folderChain(trx, file.folder_id)
  const gone = chain.findLast((step) => step.deleted_at !== null)
  if (gone !== undefined) return outOfFolder(trx, file, gone.bin_id, at)
  await markRemoved(trx, [file], 'deleted', at)
  await noteChange(trx, file.account_id, { kind: 'file.removed', file: file.id, place: file.folder_id })
}

async function outOfBin(trx: Db, file: FileOfContent, at: number): Promise<void> {
  const { account_id: account, size } = file
  await setRemoved(trx, [file], 'deleted', at)
  const entry = await entryOfFile(trx, file.id)
  if (entry === undefined) return
  // What was in a bin that was emptied has left the totals.
  const isCounted = !(await isEmptied(trx, entry))
  await dropBinEntry(trx, entry.id)
  if (!isCounted) return
  await countBin(trx, account, -size, -1)
  await changeTotals(trx, account, { storage: -size })
  await noteChange(trx, account, { kind: 'bin' })
}

/** `entry`: by which the folder that the file is in is in the bin; null, or gone: that folder is deleted for good. */
async function outOfFolder(trx: Db, file: FileOfContent, id: BinEntryId | null, at: number): Promise<void> {
  const { account_id: account, folder_id: folder, size } = file
  await setRemoved(trx, [file], 'deleted', at)
  const entry = id === null ? undefined : await entryById(trx, id)
  if (entry === undefined || entry.folder_id === null) return
  const { parent_id: above } = await folderById(trx, entry.folder_id)
  // The trees above have let go of the folder with all that it had: what is taken from all is given back to those first.
  if (above !== null) await changeTree(trx, above, { files: 1, bytes: size })
  await changeFiles(trx, folder, -1, -size)
  await takeFromEntry(trx, entry.id, size)
  if (await isEmptied(trx, entry)) return
  if (entry.restoring === 0) await countBin(trx, account, -size, 0)
  await changeTotals(trx, account, { storage: -size })
  await noteChange(trx, account, { kind: 'bin' })
}

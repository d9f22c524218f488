import { changeTotals } from '../core/accounts.rows.ts'
import { noteChange } from '../core/changes.rows.ts'
import type { Trx } from '../database/database.ts'
import type { BinEntryId } from '../domain/ids.ts'
import {
  countBin,
  dropBinEntry,
  entryById,
  entryOfFile,
  isEmptied,
  takeFromEntry,
} from '../files/bin/bin.rows.ts'
import { markRemoved, setRemoved } from '../files/file-removal.rows.ts'
import { changeFiles, changeTree, folderById, folderChain } from '../files/folders/folders.rows.ts'
import type { FileOfContent } from '../files/refused-contents.rows.ts'

/**
 * In any state: live, expired, binned, or being restored. Keeps every total consistent. The account must be
 * locked.
 */
export async function purgeFile(trx: Trx, file: FileOfContent, at: number): Promise<void> {
  if (file.removal === 'expired') return setRemoved(trx, [file], 'deleted', at)
  if (file.removal === 'binned') return deleteFromBin(trx, file, at)
  const chain = await folderChain(trx, file.folder_id)
  const gone = chain.findLast((step) => step.deleted_at !== null)
  if (gone !== undefined) return deleteFromFolder(trx, file, gone.bin_id, at)
  await markRemoved(trx, [file], 'deleted', at)
  await noteChange(trx, file.account_id, { kind: 'file.removed', file: file.id, place: file.folder_id })
}

async function deleteFromBin(trx: Trx, file: FileOfContent, at: number): Promise<void> {
  const { account_id: account, size } = file
  await setRemoved(trx, [file], 'deleted', at)
  const entry = await entryOfFile(trx, file.id)
  if (entry === undefined) return
  // Entries of an emptied bin are no longer in the totals.
  const isCounted = !(await isEmptied(trx, entry))
  await dropBinEntry(trx, entry.id)
  if (!isCounted) return
  await countBin(trx, account, -size, -1)
  await changeTotals(trx, account, { storage: -size })
  await noteChange(trx, account, { kind: 'bin' })
}

/** `id`: null deletes the folder for good. */
async function deleteFromFolder(
  trx: Trx,
  file: FileOfContent,
  id: BinEntryId | null,
  at: number,
): Promise<void> {
  const { account_id: account, folder_id: folder, size } = file
  await setRemoved(trx, [file], 'deleted', at)
  const entry = id === null ? undefined : await entryById(trx, id)
  if (entry === undefined || entry.folder_id === null) return
  const { parent_id: above } = await folderById(trx, entry.folder_id)
  // The ancestors' tree sums lack the whole folder, so the file is added back before it is subtracted.
  if (above !== null) await changeTree(trx, above, { files: 1, bytes: size })
  await changeFiles(trx, folder, -1, -size)
  await takeFromEntry(trx, entry.id, size)
  if (await isEmptied(trx, entry)) return
  if (entry.restoring === 0) await countBin(trx, account, -size, 0)
  await changeTotals(trx, account, { storage: -size })
  await noteChange(trx, account, { kind: 'bin' })
}

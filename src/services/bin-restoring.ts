import { changeTotals } from '../database/accounts.ts'
import {
  type BinEntryRow,
  countBin,
  dropBinEntry,
  findBinEntry,
  placeOfEntry,
  returnFile,
} from '../database/bin.ts'
import {
  beginReturn,
  markedFolders,
  returningEntry,
  unmarkFiles,
  unmarkFolders,
} from '../database/bin-returning.ts'
import { noteChange } from '../database/changes.ts'
import { lockAccount } from '../database/differences.ts'
import { changeFiles, changeTree, folderById, folderChain, updateFolder } from '../database/folders.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Clock } from '../domain/clock.ts'
import type { AccountId, BinEntryId, FileId, FolderId, FolderPlace } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { type BinOutcome, eachByItself } from './bin.ts'
import { assertOldPlace, freeName, isTooDeep, placeForFile, placeForFolder } from './bin-places.ts'
import { tooDeep } from './folder-moving.ts'
import { ownEntry } from './own-entry.ts'
import { placeOf } from './places.ts'
import { letOthersIn, unhurried } from './turns.ts'

/** Brings back what is in the bin. */
export interface BinRestoring {
  /**
   * Each by itself, in the order asked: to `place`, or with null to where it was, or where that is gone to the top level.
   * Somebody who is kept to a folder may put nothing there, and has to name a place instead.
   * A small folder is back when this returns; a large one follows, all of it at once.
   * Throws Refusal FOLDER_NOT_FOUND when the place is unknown.
   */
  restore(reach: Reach, entries: readonly BinEntryId[], place: FolderPlace | null): Promise<BinOutcome[]>
  /** Goes on with the folders that are coming back, until all are there or `mayGoOn` says no. */
  run(mayGoOn?: () => boolean): Promise<void>
}

/** Rows that one transaction unmarks: as with marking, each costs SQLite a good part of a millisecond. */
const STEP = 60
/** Folders that one transaction looks into. */
const FOLDERS = 50
/** Steps that the request takes by itself. */
const STEPS_AT_ONCE = 10

export function createBinRestoring(db: Db, clock: Clock, maxDepth: number): BinRestoring {
  async function begin(reach: Reach, id: BinEntryId, place: FolderPlace | null): Promise<boolean> {
    return inTransaction(db, async (trx) => {
      const { account } = reach
      await lockAccount(trx, account)
      const entry = await ownEntry(trx, reach, id)
      if (entry.restoring === 1) return true
      const destination = place === null ? null : await placeOf(trx, reach, place)
      if (destination === null && reach.within !== null) {
        await assertOldPlace(trx, entry, await placeOfEntry(trx, entry), maxDepth)
      }
      await countBin(trx, account, -entry.bytes, -1)
      if (entry.file_id !== null) {
        await restoreFile(trx, entry, entry.file_id, destination)
        return false
      }
      if (entry.folder_id === null) throw new Error(`entry ${id} of the bin is nothing`)
      if (destination !== null) await sendTo(trx, entry, entry.folder_id, destination)
      await beginReturn(trx, entry, entry.folder_id)
      await noteChange(trx, account, { kind: 'bin' })
      return true
    })
  }

  async function restoreFile(
    trx: Db,
    entry: BinEntryRow,
    file: FileId,
    destination: FolderId | null,
  ): Promise<void> {
    const row = await trx
      .selectFrom('files')
      .select('folder_id')
      .where('id', '=', file)
      .executeTakeFirstOrThrow()
    const folder = destination ?? (await placeForFile(trx, entry.account_id, row.folder_id))
    await returnFile(trx, file, folder, clock.now())
    await changeFiles(trx, folder, 1, entry.bytes)
    await changeTotals(trx, entry.account_id, { files: 1 })
    await dropBinEntry(trx, entry.id)
    await noteChange(trx, entry.account_id, { kind: 'file.added', file, place: folder })
    await noteChange(trx, entry.account_id, { kind: 'bin' })
  }

  /** The folder, still in the bin, will come back somewhere else than where it was. */
  async function sendTo(trx: Db, entry: BinEntryRow, id: FolderId, parent: FolderId): Promise<void> {
    const folder = await folderById(trx, id)
    const way = await folderChain(trx, parent)
    if (await isTooDeep(trx, folder, way, maxDepth, entry.id)) throw tooDeep(maxDepth)
    await updateFolder(trx, id, { parent_id: parent })
  }

  /** Takes marks off, or, when none is left, lets the folder itself be seen. Says whether there is more to do. */
  async function step(account: AccountId, id: BinEntryId): Promise<boolean> {
    return inTransaction(db, async (trx) => {
      await lockAccount(trx, account)
      const entry = await findBinEntry(trx, account, id)
      if (entry === undefined || entry.folder_id === null || entry.restoring === 0) return false
      const below = await markedFolders(trx, id, entry.folder_id, FOLDERS)
      const folders = below.length > 0 ? below : [entry.folder_id]
      if ((await unmarkFiles(trx, folders, clock.now(), STEP)) > 0) return true
      if (below.length > 0) {
        await unmarkFolders(trx, below)
        return true
      }
      await showFolder(trx, entry, entry.folder_id)
      return false
    })
  }

  async function showFolder(trx: Db, entry: BinEntryRow, id: FolderId): Promise<void> {
    const folder = await folderById(trx, id)
    const { parent, isPublic } = await placeForFolder(trx, folder, maxDepth)
    const name = await freeName(trx, parent, folder.name)
    await updateFolder(trx, id, { parent_id: parent, name, ...(isPublic ? {} : { is_public: 0 }) })
    await unmarkFolders(trx, [id])
    const { tree_files: files, tree_bytes: bytes } = folder
    const folders = folder.tree_folders + 1
    await changeTree(trx, parent, { files, bytes, folders, height: folder.tree_height + 1 })
    await changeTotals(trx, entry.account_id, { files, folders })
    await dropBinEntry(trx, entry.id)
    const change = { kind: 'folder.added', folder: folder.identifier, place: parent } as const
    await noteChange(trx, entry.account_id, change)
    await noteChange(trx, entry.account_id, { kind: 'bin' })
  }

  return {
    async restore(reach, entries, place) {
      if (place !== null) await placeOf(db, reach, place)
      return eachByItself(entries, async (entry) => {
        let isComing = await begin(reach, entry, place)
        for (let steps = 0; isComing && steps < STEPS_AT_ONCE; steps++) {
          await letOthersIn()
          isComing = await step(reach.account, entry)
        }
        return entry
      })
    },

    async run(mayGoOn = () => true) {
      while (mayGoOn()) {
        const entry = await returningEntry(db)
        if (entry === undefined) return
        while (mayGoOn() && (await unhurried(() => step(entry.account_id, entry.id))));
      }
    },
  }
}

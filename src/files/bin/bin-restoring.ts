import { sql } from 'kysely'
import { changeTotals, topFolder } from '../../core/accounts.rows.ts'
import { noteChange } from '../../core/changes.rows.ts'
import type { Database, Trx } from '../../database/database.ts'
import { greatest, lockAccount } from '../../database/differences.ts'
import { prepared } from '../../database/prepared.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Actor } from '../../domain/access.ts'
import { type Clock, withPause, yieldToEventLoop } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { AccountId, BinEntryId, FileId, FolderId, FolderPlace } from '../../domain/ids.ts'
import { eachByItself } from '../batches.ts'
import {
  type ChainRow,
  changeFiles,
  changeTree,
  type FolderRow,
  folderById,
  folderChain,
  freeName,
} from '../folders/folders.rows.ts'
import { isTooDeep, tooDeep, updateFolder } from '../folders/folders.ts'
import { assertMayPlace, resolvePlace } from '../folders/places.ts'
import {
  type BinEntryRow,
  countBin,
  dropBinEntry,
  findBinEntry,
  placeOfEntry,
  returnFile,
} from './bin.rows.ts'
import { ownEntry } from './bin.ts'

const STEPS_OF_REQUEST = 10

export function createBinRestoring(db: Database, clock: Clock, maxDepth: number) {
  const step = (account: AccountId, entry: BinEntryId) =>
    inTransaction(db, (trx) => returnStep(trx, account, entry, clock.now(), maxDepth))
  const begin = (reach: Actor, entry: BinEntryId, place: FolderPlace | null) =>
    inTransaction(db, (trx) => beginRestoring(trx, reach, entry, place, { now: clock.now(), maxDepth }))

  return {
    /**
     * Each by itself, in order. `place` null: to the old place, or the top level when that is gone; a key confined to a
     * folder must name a place. A large folder appears later, all at once. What more people may see in `place` fails
     * with SCOPE_MISSING for a caller who may not read. Throws Refusal FOLDER_NOT_FOUND when the place is unknown.
     */
    async restore(reach: Actor, entries: readonly BinEntryId[], place: FolderPlace | null) {
      if (place !== null) await resolvePlace(db, reach, place)
      return eachByItself(entries, async (entry) => {
        let isReturning = await begin(reach, entry, place)
        for (let steps = 0; isReturning && steps < STEPS_OF_REQUEST; steps++) {
          await yieldToEventLoop()
          isReturning = await step(reach.account, entry)
        }
      })
    },

    hasWork: async () => (await returningEntry(db)) !== undefined,

    /** Continues until all are back or `mayGoOn` returns false. */
    async run(mayGoOn: () => boolean = () => true): Promise<void> {
      while (mayGoOn()) {
        const entry = await returningEntry(db)
        if (entry === undefined) return
        while (mayGoOn() && (await withPause(clock.timers, () => step(entry.account_id, entry.id))));
      }
    },
  }
}

async function beginRestoring(
  trx: Trx,
  reach: Actor,
  id: BinEntryId,
  place: FolderPlace | null,
  { now, maxDepth }: { readonly now: number; readonly maxDepth: number },
): Promise<boolean> {
  const { account } = reach
  await lockAccount(trx, account)
  const entry = await ownEntry(trx, reach, id)
  if (entry.restoring === 1) return true
  const destination = place === null ? null : await resolvePlace(trx, reach, place)
  if (destination !== null) {
    const from = await placeOfEntry(trx, entry)
    await assertMayPlace(trx, reach, { from, to: destination, now })
  }
  if (destination === null && reach.within !== null) {
    await assertOldPlace(trx, entry, await placeOfEntry(trx, entry), maxDepth)
  }
  await countBin(trx, account, -entry.bytes, -1)
  if (entry.file_id !== null) {
    await restoreFile(trx, entry, entry.file_id, destination, now)
    return false
  }
  if (entry.folder_id === null) throw new Error(`entry ${id} of the bin is nothing`)
  if (destination !== null) await redirect(trx, entry, entry.folder_id, destination, maxDepth)
  await beginReturn(trx, entry, entry.folder_id)
  await noteChange(trx, account, { kind: 'bin' })
  return true
}

/** `destination` null: to the old place, or the top level. */
async function restoreFile(
  trx: Trx,
  entry: BinEntryRow,
  file: FileId,
  destination: FolderId | null,
  now: number,
): Promise<void> {
  const row = await trx
    .selectFrom('files')
    .select('folder_id')
    .where('id', '=', file)
    .executeTakeFirstOrThrow()
  const folder = destination ?? (await placeForFile(trx, entry.account_id, row.folder_id))
  await returnFile(trx, file, folder, now)
  await changeFiles(trx, folder, 1, entry.bytes)
  await changeTotals(trx, entry.account_id, { files: 1 })
  await dropBinEntry(trx, entry.id)
  await noteChange(trx, entry.account_id, { kind: 'file.added', file, place: folder })
  await noteChange(trx, entry.account_id, { kind: 'bin' })
}

/** Throws Refusal MAX_DEPTH_EXCEEDED. */
async function redirect(
  trx: Trx,
  entry: BinEntryRow,
  id: FolderId,
  parent: FolderId,
  maxDepth: number,
): Promise<void> {
  const folder = await folderById(trx, id)
  const ancestors = await folderChain(trx, parent)
  if (await isTooDeep(trx, folder, ancestors, maxDepth, entry.id)) throw tooDeep(maxDepth)
  await updateFolder(trx, id, { parent_id: parent })
}

/** Rows per transaction: each costs SQLite a good part of a millisecond. */
const STEP = 60
const FOLDERS = 50

/** Unmarks some descendants, or, when none is left, shows the tree. Returns whether steps are left. */
async function returnStep(
  trx: Trx,
  account: AccountId,
  id: BinEntryId,
  now: number,
  maxDepth: number,
): Promise<boolean> {
  await lockAccount(trx, account)
  const entry = await findBinEntry(trx, account, id)
  if (entry === undefined || entry.folder_id === null || entry.restoring === 0) return false
  const marked = await markedFolders(trx, id, entry.folder_id, FOLDERS)
  const folders = marked.length > 0 ? marked : [entry.folder_id]
  if ((await unmarkFiles(trx, folders, now, STEP)) > 0) return true
  if (marked.length > 0) {
    await unmarkFolders(trx, marked)
    return true
  }
  await showFolder(trx, entry, entry.folder_id, maxDepth)
  return false
}

async function showFolder(trx: Trx, entry: BinEntryRow, id: FolderId, maxDepth: number): Promise<void> {
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

/** The old parent, or the top level: as a private folder if an ancestor had been closed. */
async function placeForFolder(
  trx: Trx,
  folder: FolderRow,
  maxDepth: number,
): Promise<{ readonly parent: FolderId; readonly isPublic: boolean }> {
  const { parent_id } = folder
  if (parent_id === null) throw new Error('a top level was in the bin')
  const way = await folderChain(trx, parent_id)
  if (!isGoneWay(way) && !(await isTooDeep(trx, folder, way, maxDepth))) {
    return { parent: parent_id, isPublic: true }
  }
  return { parent: await topFolder(trx, folder.account_id), isPublic: !keepsOut(way) }
}

async function placeForFile(trx: Trx, account: AccountId, folder: FolderId): Promise<FolderId> {
  const way = await folderChain(trx, folder)
  if (!isGoneWay(way)) return folder
  if (keepsOut(way)) {
    // At top level everybody with its link would see it.
    throw new Refusal(
      'FOLDER_NOT_FOUND',
      'The private folder that the file was in is gone; name the folder to put it into',
    )
  }
  return topFolder(trx, account)
}

/** Throws Refusal FOLDER_NOT_FOUND or MAX_DEPTH_EXCEEDED. */
async function assertOldPlace(
  trx: Trx,
  entry: BinEntryRow,
  place: FolderId,
  maxDepth: number,
): Promise<void> {
  const way = await folderChain(trx, place)
  if (isGoneWay(way)) {
    throw new Refusal('FOLDER_NOT_FOUND', 'The folder that it was in is gone; name the folder to put it into')
  }
  if (entry.folder_id === null) return
  const folder = await folderById(trx, entry.folder_id)
  if (await isTooDeep(trx, folder, way, maxDepth, entry.id)) throw tooDeep(maxDepth)
}

const isGoneWay = (way: readonly ChainRow[]) => way.some((step) => step.deleted_at !== null)

const keepsOut = (way: readonly ChainRow[]) =>
  way.some((step) => step.is_public === 0 || step.password_hash !== null)

/** From now on nothing below the folder is marked any more. */
export async function beginReturn(trx: Trx, entry: BinEntryRow, folder: FolderId): Promise<void> {
  await trx.updateTable('bin').set({ restoring: 1 }).where('id', '=', entry.id).execute()
  // Lists leave out its descendants until the folder itself is back.
  await trx.updateTable('folders').set({ cleared_at: null }).where('id', '=', folder).execute()
}

export async function giveUpReturns(trx: Trx, account: AccountId): Promise<void> {
  await trx.updateTable('bin').set({ restoring: 0 }).where('account_id', '=', account).execute()
}

async function returningEntry(db: Database): Promise<BinEntryRow | undefined> {
  return (await returning(db))[0]
}

const returning = prepared((db) =>
  db.selectFrom('bin').selectAll().where('restoring', '=', sql.lit(1)).limit(sql.lit(1)),
)

/** At most `limit`. */
async function markedFolders(trx: Trx, entry: BinEntryId, own: FolderId, limit: number): Promise<FolderId[]> {
  const rows = await trx
    .selectFrom('folders')
    .select('id')
    .where('bin_id', '=', entry)
    .where('id', '!=', own)
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

/** At most `limit`; returns how many. */
async function unmarkFiles(
  trx: Trx,
  folders: readonly FolderId[],
  at: number,
  limit: number,
): Promise<number> {
  const marked = trx
    .selectFrom('files')
    .select('id')
    .where('folder_id', 'in', folders)
    .where('removal', '=', sql.lit('folder binned'))
    .limit(limit)
  const { numUpdatedRows } = await trx
    .updateTable('files')
    .set({ removed_at: null, removal: null, last_used_at: greatest(trx, 'last_used_at', at) })
    .where('id', 'in', marked)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

async function unmarkFolders(trx: Trx, folders: readonly FolderId[]): Promise<void> {
  await trx
    .updateTable('folders')
    .set({ deleted_at: null, cleared_at: null, bin_id: null })
    .where('id', 'in', folders)
    .execute()
}

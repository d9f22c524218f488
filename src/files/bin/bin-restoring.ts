import { changeTotals } from '../../core/accounts.rows.ts'
import { noteChange } from '../../core/changes.rows.ts'
import type { Database, Trx } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Actor } from '../../domain/access.ts'
import { type Clock, withPause, yieldToEventLoop } from '../../domain/clock.ts'
import type { AccountId, BinEntryId, FileId, FolderId, FolderPlace } from '../../domain/ids.ts'
import { assertMayPlace } from '../folders/exposure.ts'
import { updateFolder } from '../folders/folder-changes.rows.ts'
import { tooDeep } from '../folders/folder-moving.ts'
import { changeFiles, changeTree, folderById, folderChain } from '../folders/folders.rows.ts'
import { resolvePlace } from '../folders/places.ts'
import {
  type BinEntryRow,
  countBin,
  dropBinEntry,
  findBinEntry,
  placeOfEntry,
  returnFile,
} from './bin.rows.ts'
import { type BinOutcome, forEachSeparately } from './bin.ts'
import { assertOldPlace, freeName, isTooDeep, placeForFile, placeForFolder } from './bin-places.ts'
import {
  beginReturn,
  markedFolders,
  returningEntry,
  unmarkFiles,
  unmarkFolders,
} from './bin-returning.rows.ts'
import { ownEntry } from './own-entry.ts'

export interface BinRestoring {
  /**
   * Each by itself, in order. `place` null: to the old place, or the top level when that is gone; a key confined to a
   * folder must name a place. A large folder appears later, all at once. What more people may see in `place` fails with
   * SCOPE_MISSING for a caller who may not read. Throws Refusal FOLDER_NOT_FOUND when the place is unknown.
   */
  restore(reach: Actor, entries: readonly BinEntryId[], place: FolderPlace | null): Promise<BinOutcome[]>
  hasWork(): Promise<boolean>
  /** Continues until all are back or `mayGoOn` returns false. */
  run(mayGoOn?: () => boolean): Promise<void>
}

const STEPS_OF_REQUEST = 10

export function createBinRestoring(db: Database, clock: Clock, maxDepth: number): BinRestoring {
  const folders = createFolderReturn(db, clock, maxDepth)
  const begin = (reach: Actor, entry: BinEntryId, place: FolderPlace | null) =>
    inTransaction(db, (trx) => beginRestoring(trx, { clock, maxDepth }, reach, entry, place))

  return {
    async restore(reach, entries, place) {
      if (place !== null) await resolvePlace(db, reach, place)
      return forEachSeparately(entries, async (entry) => {
        let isReturning = await begin(reach, entry, place)
        for (let steps = 0; isReturning && steps < STEPS_OF_REQUEST; steps++) {
          await yieldToEventLoop()
          isReturning = await folders.step(reach.account, entry)
        }
        return entry
      })
    },

    hasWork: async () => (await returningEntry(db)) !== undefined,

    async run(mayGoOn = () => true) {
      while (mayGoOn()) {
        const entry = await returningEntry(db)
        if (entry === undefined) return
        while (mayGoOn() && (await withPause(clock.timers, () => folders.step(entry.account_id, entry.id))));
      }
    },
  }
}

interface RestoringLimits {
  readonly clock: Clock
  readonly maxDepth: number
}

async function beginRestoring(
  trx: Trx,
  { clock, maxDepth }: RestoringLimits,
  reach: Actor,
  id: BinEntryId,
  place: FolderPlace | null,
): Promise<boolean> {
  const { account } = reach
  await lockAccount(trx, account)
  const entry = await ownEntry(trx, reach, id)
  if (entry.restoring === 1) return true
  const destination = place === null ? null : await resolvePlace(trx, reach, place)
  if (destination !== null) {
    const from = await placeOfEntry(trx, entry)
    await assertMayPlace(trx, reach, { from, to: destination, now: clock.now() })
  }
  if (destination === null && reach.within !== null) {
    await assertOldPlace(trx, entry, await placeOfEntry(trx, entry), maxDepth)
  }
  await countBin(trx, account, -entry.bytes, -1)
  if (entry.file_id !== null) {
    await restoreFile(trx, entry, entry.file_id, destination, clock.now())
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

interface FolderReturn {
  /** Unmarks some descendants, or, when none is left, shows the tree. Returns whether steps are left. */
  step(account: AccountId, entry: BinEntryId): Promise<boolean>
}

function createFolderReturn(db: Database, clock: Clock, maxDepth: number): FolderReturn {
  return {
    step: (account, id) =>
      inTransaction(db, async (trx) => {
        await lockAccount(trx, account)
        const entry = await findBinEntry(trx, account, id)
        if (entry === undefined || entry.folder_id === null || entry.restoring === 0) return false
        const marked = await markedFolders(trx, id, entry.folder_id, FOLDERS)
        const folders = marked.length > 0 ? marked : [entry.folder_id]
        if ((await unmarkFiles(trx, folders, clock.now(), STEP)) > 0) return true
        if (marked.length > 0) {
          await unmarkFolders(trx, marked)
          return true
        }
        await showFolder(trx, entry, entry.folder_id, maxDepth)
        return false
      }),
  }
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

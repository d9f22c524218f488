import { changeTotals, findAccount } from '../../core/accounts.rows.ts'
import { noteChange } from '../../core/changes.rows.ts'
import type { Lifetime } from '../../core/outages.ts'
import { pageAtOneMoment } from '../../core/pages-at-one-moment.ts'
import type { Database } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Reach } from '../../domain/access.ts'
import { type Clock, yieldToEventLoop } from '../../domain/clock.ts'
import { type ErrorCode, Refusal } from '../../domain/errors.ts'
import type { BinEntryId, FileId, FileIdentifier, FolderIdentifier } from '../../domain/ids.ts'
import { setRemoved } from '../file-removal.rows.ts'
import { changeFiles, changeTree, findFolder, markFolderDeleted, takenAway } from '../folders/folders.rows.ts'
import { ownFolder } from '../folders/places.ts'
import { enclosingFolders, resolveFiles } from '../identifier-lookup.ts'
import { ownFile } from '../own-file.ts'
import { type BinListRow, type BinnedWhere, goneAmong, insertBinEntry, listBin, sumBin } from './bin.rows.ts'

export type BinTarget =
  | { readonly kind: 'file'; readonly file: FileIdentifier }
  | { readonly kind: 'folder'; readonly folder: FolderIdentifier }

export type BinOutcome =
  | { readonly done: true; readonly entry: BinEntryId }
  | { readonly done: false; readonly error: ErrorCode }

export interface BinEntry extends BinListRow {
  readonly placeIsThere: boolean
}

/** Gone at once from every list, link and total but that of storage; deleted for good after some days. */
export interface Bin {
  /** Each by itself, in order. Several names of a file share an entry. A reach's own folder cannot be binned. */
  put(reach: Reach, things: readonly BinTarget[]): Promise<BinOutcome[]>
  /** Newest first. A page past the end is empty. */
  list(
    reach: Reach,
    page: number,
    perPage: number,
  ): Promise<{ readonly entries: readonly BinEntry[]; readonly total: number }>
  /** Milliseconds since the epoch. */
  expiresAt(entry: BinEntry): number
}

export function createBin(db: Database, clock: Clock, lifetime: Lifetime): Bin {
  function putFile(reach: Reach, identifier: FileIdentifier): Promise<BinEntryId> {
    return inTransaction(db, async (trx) => {
      const { account } = reach
      await lockAccount(trx, account)
      const file = await ownFile(trx, reach, identifier)
      const now = clock.now()
      await setRemoved(trx, [file], 'binned', now)
      await changeFiles(trx, file.folder_id, -1, -file.size)
      await changeTotals(trx, account, { files: -1 })
      await noteChange(trx, account, { kind: 'file.removed', file: file.id, place: file.folder_id })
      await noteChange(trx, account, { kind: 'bin' })
      return insertBinEntry(trx, {
        account_id: account,
        file_id: file.id,
        folder_id: null,
        bytes: file.size,
        files: 1,
        binned_at: now,
      })
    })
  }

  async function putFolder(reach: Reach, identifier: FolderIdentifier): Promise<BinEntryId> {
    if (identifier === reach.within) {
      throw new Refusal('INVALID_REQUEST', 'This key is limited to this folder and cannot move it to the bin')
    }
    return inTransaction(db, async (trx) => {
      const { account } = reach
      await lockAccount(trx, account)
      const folder = await ownFolder(trx, reach, identifier)
      const { tree_files: files, tree_bytes: bytes } = folder
      const folders = folder.tree_folders + 1
      const now = clock.now()
      const entry = await insertBinEntry(trx, {
        account_id: account,
        file_id: null,
        folder_id: folder.id,
        bytes,
        files,
        binned_at: now,
      })
      await markFolderDeleted(trx, folder.id, now, entry)
      if (folder.parent_id !== null) {
        await changeTree(trx, folder.parent_id, takenAway({ files, bytes, folders }))
      }
      await changeTotals(trx, account, { files: -files, folders: -folders })
      const change = { kind: 'folder.removed', folder: identifier, place: folder.parent_id } as const
      await noteChange(trx, account, change)
      await noteChange(trx, account, { kind: 'bin' })
      return entry
    })
  }

  return {
    async put(reach, things) {
      const taken = await takenOf(db, reach, things)
      return forEachSeparately(things, async (thing) => {
        const entry =
          taken.by(thing) ??
          (await (thing.kind === 'file' ? putFile(reach, thing.file) : putFolder(reach, thing.folder)))
        taken.add(thing, entry)
        return entry
      })
    },

    async list({ account, within }, page, perPage) {
      const top = within === null ? null : await findFolder(db, within)
      if (top === undefined) return { entries: [], total: 0 }
      const where = { account, tree: top === null ? null : top.id }
      const { rows, total } = await pageAtOneMoment(
        () => countEntries(db, where),
        () => listBin(db, where, (page - 1) * perPage, perPage),
      )
      const gone = await goneAmong(db, [...new Set(rows.map((row) => row.place_id))])
      const entries = rows.map((row) => ({ ...row, placeIsThere: !gone.has(row.place_id) }))
      return { entries, total }
    },

    expiresAt: ({ binned_at }) => lifetime.endOf(binned_at),
  }
}

/** Excludes entries being restored. */
async function countEntries(db: Database, where: BinnedWhere): Promise<{ readonly total: number }> {
  if (where.tree !== null) return { total: (await sumBin(db, where)).entries }
  return { total: (await findAccount(db, where.account))?.bin_entries ?? 0 }
}

/** Finds other names of a taken file, and folders inside a taken one. */
async function takenOf(db: Database, reach: Reach, things: readonly BinTarget[]) {
  const folders = things.flatMap((thing) => (thing.kind === 'folder' ? [thing.folder] : []))
  const files = things.flatMap((thing) => (thing.kind === 'file' ? [thing.file] : []))
  const around = folders.length > 1 ? await enclosingFolders(db, reach, folders) : null
  const named = files.length > 1 ? await resolveFiles(db, reach, files) : []
  const ids = new Map(files.map((file, at) => [file, named[at]]))
  const ofFiles = new Map<FileId | undefined, BinEntryId>()
  const ofFolders = new Map<FolderIdentifier, BinEntryId>()
  return {
    by(thing: BinTarget): BinEntryId | undefined {
      if (thing.kind === 'file') return ofFiles.get(ids.get(thing.file))
      const holder = around?.get(thing.folder)?.find((each) => ofFolders.has(each))
      return holder && ofFolders.get(holder)
    },
    add(thing: BinTarget, entry: BinEntryId): void {
      if (thing.kind === 'folder') ofFolders.set(thing.folder, entry)
      else if (ids.get(thing.file) !== undefined) ofFiles.set(ids.get(thing.file), entry)
    },
  }
}

export async function forEachSeparately<Thing>(
  things: readonly Thing[],
  work: (thing: Thing) => Promise<BinEntryId>,
): Promise<BinOutcome[]> {
  const outcomes: BinOutcome[] = []
  for (const thing of things) {
    try {
      outcomes.push({ done: true, entry: await work(thing) })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      outcomes.push({ done: false, error: error.code })
    }
    await yieldToEventLoop()
  }
  return outcomes
}

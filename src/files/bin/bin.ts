import { changeTotals, findAccount } from '../../core/accounts.rows.ts'
import { noteChange } from '../../core/changes.rows.ts'
import type { Lifetime } from '../../core/outages.ts'
import { pageAtOneMoment } from '../../core/pages-at-one-moment.ts'
import type { Database, Queryable } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Reach } from '../../domain/access.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { BinEntryId, FileId, FileIdentifier, FolderIdentifier } from '../../domain/ids.ts'
import { eachByItself, enclosingFolders, type Outcome, resolveFiles } from '../batches.ts'
import { ownFile } from '../files.ts'
import { changeFiles, changeTree, findFolder, markFolderDeleted, takenAway } from '../folders/folders.rows.ts'
import { ownFolder, wasWithin } from '../folders/places.ts'
import { setRemoved } from '../removals.ts'
import {
  type BinEntryRow,
  type BinListRow,
  type BinnedWhere,
  findBinEntry,
  goneAmong,
  insertBinEntry,
  listBin,
  placeOfEntry,
  sumBin,
} from './bin.rows.ts'

export type BinTarget =
  | { readonly kind: 'file'; readonly file: FileIdentifier }
  | { readonly kind: 'folder'; readonly folder: FolderIdentifier }

export interface BinEntry extends BinListRow {
  readonly placeIsThere: boolean
}

export type Bin = ReturnType<typeof createBin>

/** Gone at once from every list, link and total but that of storage; deleted for good after some days. */
export function createBin(db: Database, clock: Clock, lifetime: Lifetime) {
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
    /** Each by itself, in order. Several names of a file share an entry. A reach's own folder cannot be binned. */
    async put(reach: Reach, things: readonly BinTarget[]): Promise<Outcome<BinEntryId>[]> {
      const taken = await takenOf(db, reach, things)
      return eachByItself(things, async (thing) => {
        const entry =
          taken.by(thing) ??
          (await (thing.kind === 'file' ? putFile(reach, thing.file) : putFolder(reach, thing.folder)))
        taken.add(thing, entry)
        return entry
      })
    },

    /** Newest first. A page past the end is empty. */
    async list({ account, within }: Reach, page: number, perPage: number) {
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

    /** Milliseconds since the epoch. */
    expiresAt: ({ binned_at }: BinEntryRow) => lifetime.endOf(binned_at),
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

/** Includes an entry being restored. Throws Refusal NOT_FOUND, also for one out of reach. */
export async function ownEntry(db: Queryable, reach: Reach, id: BinEntryId): Promise<BinEntryRow> {
  const entry = await findBinEntry(db, reach.account, id)
  if (entry === undefined) throw entryNotFound()
  if (reach.within === null) return entry
  if (!(await wasWithin(db, reach, await placeOfEntry(db, entry)))) throw entryNotFound()
  return entry
}

export function entryNotFound(): Refusal {
  return new Refusal('NOT_FOUND', 'There is no entry with that number in your bin')
}

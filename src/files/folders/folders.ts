import { changeTotals } from '../../core/accounts.rows.ts'
import { noteChange } from '../../core/changes.rows.ts'
import { hashPassword } from '../../core/password-hash.ts'
import type { Database, Trx } from '../../database/database.ts'
import { isUniqueViolation, lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Actor, assertMayWiden, mayWiden, opensFolder, type Reach } from '../../domain/access.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { parseFolderName } from '../../domain/folder-name.ts'
import type {
  AccountId,
  BinEntryId,
  FolderId,
  FolderIdentifier,
  FolderPlace,
  Uuid,
} from '../../domain/ids.ts'
import { makeFolderIdentifier, makeUuid, type Random } from '../../domain/random.ts'
import { sortKey } from '../../domain/sort-key.ts'
import { eachByItself } from '../batches.ts'
import { hasTerms, updateTransfer } from '../transfers.rows.ts'
import {
  type ChainRow,
  changeTree,
  childNamed,
  countSubfolders,
  type FolderListRow,
  type FolderRow,
  findFolder,
  folderById,
  folderChain,
  isDeeperThan,
  listFolders,
  listTree,
  type SubfolderOrder,
  subfolderPage,
  takenAway,
} from './folders.rows.ts'
import { assertMayPlace, folderNotFound, ownFolder, resolvePlace, withinReach } from './places.ts'

export interface FolderPageQuery extends SubfolderOrder {
  readonly page: number
  readonly perPage: number
}

export interface NewFolder {
  readonly name: string
  readonly parent: FolderPlace
  readonly isPublic: boolean
  readonly password: string | null
}

export interface WantedFolderChange {
  readonly name?: string
  readonly parent?: FolderPlace
  readonly isPublic?: boolean
  /** Null removes the password. */
  readonly password?: string | null
}

export type Folders = ReturnType<typeof createFolders>

export function createFolders(db: Database, clock: Clock, random: Random, maxDepth: number) {
  /** Returns the number of moved folders, 0 when nothing changed. Throws Refusal as `moveFolder` does. */
  function move(reach: Actor, folder: FolderIdentifier, parent: FolderPlace): Promise<number> {
    return inTransaction(db, async (trx) => {
      await lockAccount(trx, reach.account)
      return moveFolder(trx, reach, { folder, parent, maxDepth, now: clock.now(), change: {} })
    })
  }

  return {
    /** Direct children of `parent`, or all within reach. */
    async list(reach: Reach, parent: FolderPlace | null): Promise<FolderListRow[]> {
      const { account, within } = reach
      if (parent !== null) return listFolders(db, account, await resolvePlace(db, reach, parent))
      if (within === null) return listFolders(db, account, null)
      const top = await findFolder(db, within)
      if (top === undefined) return []
      return (await listTree(db, top.id)).map((folder) => withinReach(reach, folder))
    },

    get: (reach: Reach, identifier: FolderIdentifier) => ownFolder(db, reach, identifier),

    /** A page past the end is empty. */
    async page(reach: Reach, place: FolderPlace, { page, perPage, sort, order }: FolderPageQuery) {
      const { id, tree_folders } = await folderById(db, await resolvePlace(db, reach, place))
      const subfolders = { parent: id, publicOnly: false }
      const offset = (page - 1) * perPage
      const [folders, total] = await Promise.all([
        subfolderPage(db, { ...subfolders, sort, order, offset, limit: perPage }),
        countSubfolders(db, { ...subfolders, atMost: tree_folders }),
      ])
      return { folders, total }
    },

    /** Within reach, outermost first. */
    async above({ within }: Reach, { identifier, parent_id }: FolderListRow): Promise<readonly ChainRow[]> {
      if (parent_id === null || identifier === within) return []
      const chain = await folderChain(db, parent_id)
      if (within === null) return chain
      const top = chain.findIndex((step) => step.identifier === within)
      return top === -1 ? [] : chain.slice(top)
    },

    /** Throws Refusal INVALID_NAME, FOLDER_NOT_FOUND, DUPLICATE_NAME or MAX_DEPTH_EXCEEDED. */
    async create(reach: Reach, folder: NewFolder): Promise<FolderListRow> {
      const name = parseFolderName(folder.name)
      // Before the password is hashed, which costs far more.
      await resolvePlace(db, reach, folder.parent)
      const password_hash = folder.password === null ? null : await hashPassword(folder.password)
      const identifier = makeFolderIdentifier(random)
      await refusingDuplicates(name, () =>
        inTransaction(db, async (trx) => {
          const account_id = reach.account
          await lockAccount(trx, account_id)
          const parent_id = await resolvePlace(trx, reach, folder.parent)
          await assertRoomBelow(trx, parent_id, 1, maxDepth)
          const is_public = folder.isPublic ? 1 : 0
          const created_at = clock.now()
          await addFolder(trx, {
            identifier,
            account_id,
            parent_id,
            name,
            is_public,
            password_hash,
            created_at,
          })
        }),
      )
      return read(db, reach, identifier)
    },

    /** Atomic. Throws Refusal as `create`, INVALID_DESTINATION, SCOPE_MISSING, INVALID_REQUEST to rename the reach. */
    async change(
      reach: Actor,
      identifier: FolderIdentifier,
      change: WantedFolderChange,
    ): Promise<FolderListRow> {
      const wanted = change.name === undefined ? null : parseFolderName(change.name)
      const before = await ownFolder(db, reach, identifier)
      const name = wanted ?? before.name
      const isTop = identifier === reach.within
      if (isTop && name !== before.name) {
        throw new Refusal('INVALID_REQUEST', 'This key is limited to this folder and cannot rename it')
      }
      const columns = { ...(wanted === null ? {} : { name }), ...(await accessColumns(change)) }
      // A key confined to the folder reads its parent as `root`, and may send that back without moving it.
      const parent = isTop && change.parent === 'root' ? undefined : change.parent
      await refusingDuplicates(name, () =>
        inTransaction(db, (trx) =>
          update(trx, reach, { folder: identifier, parent, maxDepth, now: clock.now(), change: columns }),
        ),
      )
      return read(db, reach, identifier)
    },

    move,

    /** Each by itself, in order. Throws Refusal FOLDER_NOT_FOUND when the destination is unknown. */
    async moveMany(reach: Actor, folders: readonly FolderIdentifier[], parent: FolderPlace) {
      await resolvePlace(db, reach, parent)
      return eachByItself(folders, (folder) => move(reach, folder, parent))
    },

    /** A WebP picture, which gets a new identifier. Throws Refusal FOLDER_NOT_FOUND. */
    async setCover(reach: Reach, identifier: FolderIdentifier, picture: Uint8Array): Promise<Uuid> {
      const uuid = makeUuid(random)
      await inTransaction(db, async (trx) => {
        await lockAccount(trx, reach.account)
        const { id, parent_id: place } = await ownFolder(trx, reach, identifier)
        await trx.deleteFrom('folder_covers').where('folder_id', '=', id).execute()
        const cover = { uuid, folder_id: id, picture: Buffer.from(picture).toString('base64') }
        await trx.insertInto('folder_covers').values(cover).execute()
        await trx.updateTable('folders').set({ cover: uuid }).where('id', '=', id).execute()
        await noteChange(trx, reach.account, { kind: 'folder.changed', folder: identifier, place })
      })
      return uuid
    },

    /** Null for a replaced picture. Does not check access. */
    async findCover(uuid: Uuid) {
      const row = await db
        .selectFrom('folder_covers')
        .select(['folder_id as folder', 'picture'])
        .where('uuid', '=', uuid)
        .executeTakeFirst()
      return row === undefined
        ? null
        : { ...row, picture: new Uint8Array(Buffer.from(row.picture, 'base64')) }
    },
  }
}

/**
 * Missing folders are created, under the account's lock, so that concurrent callers get one. Throws Refusal
 * MAX_DEPTH_EXCEEDED, or FOLDER_NOT_FOUND when `start` was deleted.
 */
export async function ensurePath(
  trx: Trx,
  account: AccountId,
  start: FolderId,
  names: readonly string[],
  { random, now, maxDepth }: { readonly random: Random; readonly now: number; readonly maxDepth: number },
): Promise<FolderId> {
  await assertRoomBelow(trx, start, names.length, maxDepth)
  let place = start
  for (const name of names) {
    place =
      (await childNamed(trx, place, name)) ??
      (await addFolder(trx, {
        identifier: makeFolderIdentifier(random),
        account_id: account,
        parent_id: place,
        name,
        is_public: 1,
        password_hash: null,
        created_at: now,
      }))
  }
  return place
}

type NewFolderRow = Pick<
  FolderRow,
  'identifier' | 'account_id' | 'name' | 'is_public' | 'password_hash' | 'created_at'
> & { readonly parent_id: FolderId; readonly is_transfer?: 1; readonly unique_name?: null }

/** Call under the account's lock. */
export async function addFolder(trx: Trx, folder: NewFolderRow): Promise<FolderId> {
  const { account_id, parent_id, identifier } = folder
  const id = await insertFolder(trx, folder)
  await changeTree(trx, parent_id, { folders: 1, height: 1 })
  await changeTotals(trx, account_id, { folders: 1 })
  await noteChange(trx, account_id, { kind: 'folder.added', folder: identifier, place: parent_id })
  return id
}

/** Leaves totals and changes to the caller, who has locked the account. */
export async function insertFolder(trx: Trx, folder: NewFolderRow): Promise<FolderId> {
  const isClosed = folder.is_public === 0 || folder.password_hash !== null
  const closing = isClosed ? await countClosing(trx, folder.account_id) : 0
  const { id } = await trx
    .insertInto('folders')
    .values({ ...folder, name_sort: sortKey(folder.name), closing })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Call under the account's lock. */
export async function updateFolder(
  trx: Trx,
  id: FolderId,
  change: { name?: string; is_public?: 0 | 1; password_hash?: string | null; parent_id?: FolderId },
): Promise<void> {
  if (Object.keys(change).length === 0) return
  const before = await folderById(trx, id)
  const isClosing =
    (change.is_public === 0 && before.is_public === 1) || typeof change.password_hash === 'string'
  const closing = isClosing ? { closing: await countClosing(trx, before.account_id) } : {}
  const key = change.name === undefined ? {} : { name_sort: sortKey(change.name) }
  await trx
    .updateTable('folders')
    .set({ ...change, ...key, ...closing })
    .where('id', '=', id)
    .execute()
}

/** The number of a closing that the transaction, which has locked the account, is about to write. */
export async function countClosing(trx: Trx, account: AccountId): Promise<number> {
  const row = await trx
    .updateTable('accounts')
    .set((accounts) => ({ closings: accounts('closings', '+', 1) }))
    .where('id', '=', account)
    .returning('closings')
    .executeTakeFirstOrThrow()
  return row.closings
}

async function accessColumns({ isPublic, password }: WantedFolderChange) {
  const password_hash = typeof password === 'string' ? await hashPassword(password) : password
  return {
    ...(isPublic === undefined ? {} : { is_public: isPublic ? (1 as const) : (0 as const) }),
    ...(password_hash === undefined ? {} : { password_hash }),
  }
}

interface FolderMove {
  readonly folder: FolderIdentifier
  readonly parent: FolderPlace
  readonly maxDepth: number
  readonly now: number
  /** Changed at once: the name must be free in the new place, not in the old one. */
  readonly change: Omit<Parameters<typeof updateFolder>[2], 'parent_id'>
}

type FolderUpdate = Omit<FolderMove, 'parent'> & { readonly parent: FolderPlace | undefined }

/** A move alone is no other change of the folder. */
async function update(trx: Trx, reach: Actor, { parent, ...update }: FolderUpdate): Promise<void> {
  await lockAccount(trx, reach.account)
  if (!mayWiden(reach)) await assertOpensNothing(trx, reach, update)
  const moved = parent === undefined ? 0 : await moveFolder(trx, reach, { ...update, parent })
  if (moved > 0 && Object.keys(update.change).length === 0) return
  const { id, parent_id: place, is_transfer } = await ownFolder(trx, reach, update.folder)
  if (is_transfer === 1) await assertTransferMayBe(trx, id, update.change.is_public)
  await updateFolder(trx, id, update.change)
  await noteChange(trx, reach.account, { kind: 'folder.changed', folder: update.folder, place })
}

/** What its account makes private stays so, whatever becomes of the link. Throws Refusal LINK_HAS_TERMS. */
async function assertTransferMayBe(trx: Trx, folder: FolderId, wanted: 0 | 1 | undefined): Promise<void> {
  if (wanted === undefined) return
  if (wanted === 1 && (await hasTerms(trx, folder))) {
    throw new Refusal(
      'LINK_HAS_TERMS',
      'The link of this transfer has a password, an end or a number of downloads, which a public folder would go around; take these off first',
    )
  }
  await updateTransfer(trx, folder, { opens_again: 0 })
}

/** Throws Refusal SCOPE_MISSING. */
async function assertOpensNothing(
  trx: Trx,
  reach: Actor,
  { folder, change: { is_public, password_hash } }: Pick<FolderMove, 'folder' | 'change'>,
): Promise<void> {
  const before = await ownFolder(trx, reach, folder)
  const opens = opensFolder(
    { isPublic: before.is_public === 1, hasPassword: before.password_hash !== null },
    { isPublic: is_public === undefined ? undefined : is_public === 1, password: password_hash },
  )
  if (opens) assertMayWiden(reach)
}

/**
 * Call under the account's lock. Returns the number of moved folders, 0 when nothing changed. Throws Refusal
 * FOLDER_NOT_FOUND, INVALID_DESTINATION, DUPLICATE_NAME, MAX_DEPTH_EXCEEDED or SCOPE_MISSING.
 */
async function moveFolder(trx: Trx, reach: Actor, move: FolderMove): Promise<number> {
  const { maxDepth, now, change } = move
  const folder = await ownFolder(trx, reach, move.folder)
  const destination = await resolvePlace(trx, reach, move.parent)
  if (folder.parent_id === destination) return 0
  if (folder.parent_id !== null)
    await assertMayPlace(trx, reach, { from: folder.parent_id, to: destination, now })
  const way = await folderChain(trx, destination)
  if (way.some((step) => step.id === folder.id)) {
    throw new Refusal('INVALID_DESTINATION', 'A folder cannot be moved into itself or below itself')
  }
  if (await isTooDeep(trx, folder, way, maxDepth)) throw tooDeep(maxDepth)
  await refusingDuplicates(change.name ?? folder.name, () =>
    updateFolder(trx, folder.id, { ...change, parent_id: destination }),
  )
  const moved = {
    files: folder.tree_files,
    bytes: folder.tree_bytes,
    folders: folder.tree_folders + 1,
    height: folder.tree_height + 1,
  }
  if (folder.parent_id !== null) await changeTree(trx, folder.parent_id, takenAway(moved))
  await changeTree(trx, destination, moved)
  await noteChange(trx, reach.account, {
    kind: 'folder.moved',
    folder: move.folder,
    place: destination,
    from: folder.parent_id,
  })
  return moved.folders
}

/** Throws Refusal DUPLICATE_NAME. */
async function refusingDuplicates<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new Refusal('DUPLICATE_NAME', `A folder named "${name}" already exists there; choose another name`)
  }
}

/** Throws Refusal MAX_DEPTH_EXCEEDED, or FOLDER_NOT_FOUND when the place or an ancestor was deleted. */
async function assertRoomBelow(trx: Trx, place: FolderId, levels: number, maxDepth: number): Promise<void> {
  const chain = await folderChain(trx, place)
  // The top level is deleted with its account, and cleared once.
  if (chain.some((step) => step.deleted_at !== null)) throw folderNotFound()
  if (chain.length + levels > maxDepth) throw tooDeep(maxDepth)
}

/** Whether the folder with its tree does not fit below `way`. With its bin entry, counts the tree in the bin. */
export async function isTooDeep(
  trx: Trx,
  folder: FolderRow,
  way: readonly ChainRow[],
  maxDepth: number,
  entry: BinEntryId | null = null,
): Promise<boolean> {
  const levelsLeft = maxDepth - way.length
  // `tree_height` is an upper bound, so most trees need not be walked.
  return folder.tree_height + 1 > levelsLeft && (await isDeeperThan(trx, folder.id, levelsLeft, entry))
}

export function tooDeep(maxDepth: number): Refusal {
  return new Refusal('MAX_DEPTH_EXCEEDED', `Folders may be nested ${maxDepth} levels deep at most`)
}

async function read(db: Database, reach: Reach, identifier: FolderIdentifier): Promise<FolderListRow> {
  const row = await findFolder(db, identifier)
  if (row === undefined) throw new Refusal('FOLDER_NOT_FOUND', 'The folder was deleted in the meantime')
  return withinReach(reach, row)
}

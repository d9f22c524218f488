import { changeTotals } from '../database/accounts.ts'
import { noteChange } from '../database/changes.ts'
import { lockAccount } from '../database/differences.ts'
import {
  changeTree,
  type FolderListRow,
  findFolder,
  folderById,
  folderChain,
  insertFolder,
  listFolders,
  updateFolder,
} from '../database/folders.ts'
import type { Db } from '../database/schema.ts'
import { countSubfolders, type SubfolderOrder, subfolderPage } from '../database/subfolders.ts'
import { inTransaction } from '../database/transactions.ts'
import { listTree } from '../database/trees.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { parseFolderName } from '../domain/folder-name.ts'
import type { FolderIdentifier, FolderPlace } from '../domain/ids.ts'
import { makeFolderIdentifier, type Random } from '../domain/random.ts'
import type { Reach } from '../domain/reach.ts'
import { moveFolder, refusingDuplicates, tooDeep } from './folder-moving.ts'
import { hashPassword } from './passwords.ts'
import { asSeen, ownFolder, placeOf } from './places.ts'

/** A folder with its parent's identifier, which is null at top level. */
export type Folder = FolderListRow

export interface NewFolder {
  readonly name: string
  readonly parent: FolderPlace
  readonly isPublic: boolean
  /** null: none. */
  readonly password: string | null
}

export interface FolderChange {
  readonly name?: string
  /** Where to move it. */
  readonly parent?: FolderPlace
  readonly isPublic?: boolean
  /** null takes it off. */
  readonly password?: string | null
}

export interface FolderPageQuery extends SubfolderOrder {
  readonly page: number
  readonly perPage: number
}

export interface FolderPage {
  readonly folders: readonly FolderListRow[]
  readonly total: number
}

export interface FolderAbove {
  readonly identifier: FolderIdentifier
  readonly name: string
}

export interface Folders {
  /** Throws Refusal INVALID_NAME, FOLDER_NOT_FOUND, DUPLICATE_NAME or MAX_DEPTH_EXCEEDED. */
  create(reach: Reach, folder: NewFolder): Promise<FolderListRow>
  /** All folders within reach, or those directly in `parent`. */
  list(reach: Reach, parent: FolderPlace | null): Promise<FolderListRow[]>
  get(reach: Reach, identifier: FolderIdentifier): Promise<FolderListRow>
  /** A page of those directly in `parent`. One past the end is empty. */
  page(reach: Reach, parent: FolderPlace, query: FolderPageQuery): Promise<FolderPage>
  /** The folders above within reach, the outermost first. */
  above(reach: Reach, folder: FolderListRow): Promise<readonly FolderAbove[]>
  /** All of it or nothing. Throws Refusal as `create` does, and INVALID_DESTINATION. Whoever is kept to a folder cannot rename that one: names are its parent's. */
  change(reach: Reach, identifier: FolderIdentifier, change: FolderChange): Promise<FolderListRow>
}

export function createFolders(db: Db, clock: Clock, random: Random, maxDepth: number): Folders {
  async function read(reach: Reach, identifier: FolderIdentifier): Promise<FolderListRow> {
    const row = await findFolder(db, identifier)
    if (row === undefined) throw new Refusal('FOLDER_NOT_FOUND', 'The folder was deleted in the meantime')
    return asSeen(reach, row)
  }

  return {
    async create(reach, folder) {
      const name = parseFolderName(folder.name)
      await placeOf(db, reach, folder.parent)
      const password_hash = folder.password === null ? null : await hashPassword(folder.password)
      const identifier = makeFolderIdentifier(random)
      await refusingDuplicates(name, () =>
        inTransaction(db, async (trx) => {
          await lockAccount(trx, reach.account)
          const parent_id = await placeOf(trx, reach, folder.parent)
          if ((await folderChain(trx, parent_id)).length + 1 > maxDepth) throw tooDeep(maxDepth)
          await insertFolder(trx, {
            identifier,
            account_id: reach.account,
            parent_id,
            name,
            is_public: folder.isPublic ? 1 : 0,
            password_hash,
            created_at: clock.now(),
          })
          await changeTree(trx, parent_id, { folders: 1, height: 1 })
          await changeTotals(trx, reach.account, { folders: 1 })
          const noted = { kind: 'folder.added', folder: identifier, place: parent_id } as const
          await noteChange(trx, reach.account, noted)
        }),
      )
      return read(reach, identifier)
    },

    async list(reach, parent) {
      const { account, within } = reach
      if (parent !== null) return listFolders(db, account, await placeOf(db, reach, parent))
      if (within === null) return listFolders(db, account, null)
      const top = await findFolder(db, within)
      if (top === undefined) return []
      return (await listTree(db, top.id)).map((folder) => asSeen(reach, folder))
    },

    get: (reach, identifier) => ownFolder(db, reach, identifier),

    async page(reach, place, { page, perPage, sort, order }) {
      const { id, tree_folders } = await folderById(db, await placeOf(db, reach, place))
      const these = { parent: id, publicOnly: false }
      const offset = (page - 1) * perPage
      const [folders, total] = await Promise.all([
        subfolderPage(db, { ...these, sort, order, offset, limit: perPage }),
        countSubfolders(db, { ...these, atMost: tree_folders }),
      ])
      return { folders, total }
    },

    async above({ within }, { identifier, parent_id }) {
      if (parent_id === null || identifier === within) return []
      const chain = await folderChain(db, parent_id)
      if (within === null) return chain
      const top = chain.findIndex((step) => step.identifier === within)
      return top === -1 ? [] : chain.slice(top)
    },

    async change(reach, identifier, { name: newName, parent, isPublic, password }) {
      const wanted = newName === undefined ? null : parseFolderName(newName)
      const before = await ownFolder(db, reach, identifier)
      const name = wanted ?? before.name
      const isTop = identifier === reach.within
      if (isTop && name !== before.name) {
        throw new Refusal('INVALID_REQUEST', 'This key is limited to this folder and cannot rename it')
      }
      // For a key that is kept to the folder nothing is above it, and it says so when it sends back what it got.
      const isMoved = parent !== undefined && !(isTop && parent === 'root')
      const password_hash = typeof password === 'string' ? await hashPassword(password) : password
      const columns = {
        ...(wanted === null ? {} : { name }),
        ...(isPublic === undefined ? {} : { is_public: isPublic ? (1 as const) : (0 as const) }),
        ...(password_hash === undefined ? {} : { password_hash }),
      }
      await refusingDuplicates(name, () =>
        inTransaction(db, async (trx) => {
          await lockAccount(trx, reach.account)
          const move = { folder: identifier, parent: parent ?? 'root', maxDepth, change: columns }
          if (isMoved && (await moveFolder(trx, reach, move)) > 0 && Object.keys(columns).length === 0) return
          const folder = await ownFolder(trx, reach, identifier)
          await updateFolder(trx, folder.id, columns)
          const noted = { kind: 'folder.changed', folder: identifier, place: folder.parent_id } as const
          await noteChange(trx, reach.account, noted)
        }),
      )
      return read(reach, identifier)
    },
  }
}

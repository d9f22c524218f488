import { changeTotals, topFolder } from '../database/accounts.ts'
import { noteChange } from '../database/changes.ts'
import { isUniqueViolation, lockAccount } from '../database/differences.ts'
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
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { parseFolderName } from '../domain/folder-name.ts'
import type { AccountId, FolderIdentifier, FolderPlace } from '../domain/ids.ts'
import { makeFolderIdentifier, type Random } from '../domain/random.ts'
import { hashPassword } from './passwords.ts'
import { ownFolder, placeOf } from './places.ts'

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
  create(account: AccountId, folder: NewFolder): Promise<FolderListRow>
  /** All folders of the account, or those directly in `parent`. */
  list(account: AccountId, parent: FolderPlace | null): Promise<FolderListRow[]>
  get(account: AccountId, identifier: FolderIdentifier): Promise<FolderListRow>
  /** A page of those directly in `parent`. One past the end is empty. */
  page(account: AccountId, parent: FolderPlace, query: FolderPageQuery): Promise<FolderPage>
  /** The folders above, the outermost first. */
  above(folder: FolderListRow): Promise<readonly FolderAbove[]>
  change(account: AccountId, identifier: FolderIdentifier, change: FolderChange): Promise<FolderListRow>
}

export function createFolders(db: Db, clock: Clock, random: Random, maxDepth: number): Folders {
  async function read(identifier: FolderIdentifier): Promise<FolderListRow> {
    const row = await findFolder(db, identifier)
    if (row === undefined) throw new Refusal('FOLDER_NOT_FOUND', 'The folder was deleted in the meantime')
    return row
  }

  return {
    async create(account, folder) {
      const name = parseFolderName(folder.name)
      await placeOf(db, account, folder.parent)
      const password_hash = folder.password === null ? null : await hashPassword(folder.password)
      const identifier = makeFolderIdentifier(random)
      await refusingDuplicates(name, () =>
        inTransaction(db, async (trx) => {
          await lockAccount(trx, account)
          const parent_id = await placeOf(trx, account, folder.parent)
          if ((await folderChain(trx, parent_id)).length + 1 > maxDepth) throw tooDeep(maxDepth)
          await insertFolder(trx, {
            identifier,
            account_id: account,
            parent_id,
            name,
            is_public: folder.isPublic ? 1 : 0,
            password_hash,
            created_at: clock.now(),
          })
          await changeTree(trx, parent_id, { folders: 1, height: 1 })
          await changeTotals(trx, account, { folders: 1 })
          await noteChange(trx, account, { kind: 'folder.added', folder: identifier, place: parent_id })
        }),
      )
      return read(identifier)
    },

    async list(account, parent) {
      if (parent === null) return listFolders(db, account, null)
      const place =
        parent === 'root' ? await topFolder(db, account) : (await ownFolder(db, account, parent)).id
      return listFolders(db, account, place)
    },

    get: (account, identifier) => ownFolder(db, account, identifier),

    async page(account, place, { page, perPage, sort, order }) {
      const { id, tree_folders } = await folderById(db, await placeOf(db, account, place))
      const these = { parent: id, publicOnly: false }
      const offset = (page - 1) * perPage
      const [folders, total] = await Promise.all([
        subfolderPage(db, { ...these, sort, order, offset, limit: perPage }),
        countSubfolders(db, { ...these, atMost: tree_folders }),
      ])
      return { folders, total }
    },

    above: async ({ parent_id }) => (parent_id === null ? [] : folderChain(db, parent_id)),

    async change(account, identifier, change) {
      const name = change.name === undefined ? undefined : parseFolderName(change.name)
      await ownFolder(db, account, identifier)
      const password_hash =
        typeof change.password === 'string' ? await hashPassword(change.password) : change.password
      await refusingDuplicates(name ?? '', () =>
        inTransaction(db, async (trx) => {
          await lockAccount(trx, account)
          const folder = await ownFolder(trx, account, identifier)
          await updateFolder(trx, folder.id, {
            ...(name === undefined ? {} : { name }),
            ...(change.isPublic === undefined ? {} : { is_public: change.isPublic ? 1 : 0 }),
            ...(password_hash === undefined ? {} : { password_hash }),
          })
          const noted = { kind: 'folder.changed', folder: identifier, place: folder.parent_id } as const
          await noteChange(trx, account, noted)
        }),
      )
      return read(identifier)
    },
  }
}

/** Runs work that may give a folder a name that a sibling has. Throws Refusal DUPLICATE_NAME. */
export async function refusingDuplicates<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new Refusal('DUPLICATE_NAME', `A folder named "${name}" already exists there; choose another name`)
  }
}

export function tooDeep(maxDepth: number): Refusal {
  return new Refusal('MAX_DEPTH_EXCEEDED', `Folders may be nested ${maxDepth} levels deep at most`)
}

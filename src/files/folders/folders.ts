import type { Database } from '../../database/database.ts'
import type { Reach } from '../../domain/access.ts'
import type { Clock } from '../../domain/clock.ts'
import type { FolderIdentifier, FolderPlace } from '../../domain/ids.ts'
import type { Random } from '../../domain/random.ts'
import { createFolderChanges, type FolderChanges } from './folder-changes.ts'
import { createFolderCovers, type FolderCovers } from './folder-covers.ts'
import { type FolderListRow, findFolder, folderById, folderChain } from './folders.rows.ts'
import { ownFolder, resolvePlace, withinReach } from './places.ts'
import { countSubfolders, listFolders, type SubfolderOrder, subfolderPage } from './subfolders.rows.ts'
import { listTree } from './trees.rows.ts'

export type Folder = FolderListRow

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

export interface Folders extends FolderChanges, FolderCovers {
  /** Direct children of `parent`, or all within reach. */
  list(reach: Reach, parent: FolderPlace | null): Promise<FolderListRow[]>
  get(reach: Reach, identifier: FolderIdentifier): Promise<FolderListRow>
  /** A page past the end is empty. */
  page(reach: Reach, parent: FolderPlace, query: FolderPageQuery): Promise<FolderPage>
  /** Within reach, outermost first. */
  above(reach: Reach, folder: FolderListRow): Promise<readonly FolderAbove[]>
}

export function createFolders(db: Database, clock: Clock, random: Random, maxDepth: number): Folders {
  return {
    ...createFolderChanges({ db, clock, random, maxDepth }),
    ...createFolderCovers(db, random),

    async list(reach, parent) {
      const { account, within } = reach
      if (parent !== null) return listFolders(db, account, await resolvePlace(db, reach, parent))
      if (within === null) return listFolders(db, account, null)
      const top = await findFolder(db, within)
      if (top === undefined) return []
      return (await listTree(db, top.id)).map((folder) => withinReach(reach, folder))
    },

    get: (reach, identifier) => ownFolder(db, reach, identifier),

    async page(reach, place, { page, perPage, sort, order }) {
      const { id, tree_folders } = await folderById(db, await resolvePlace(db, reach, place))
      const subfolders = { parent: id, publicOnly: false }
      const offset = (page - 1) * perPage
      const [folders, total] = await Promise.all([
        subfolderPage(db, { ...subfolders, sort, order, offset, limit: perPage }),
        countSubfolders(db, { ...subfolders, atMost: tree_folders }),
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
  }
}

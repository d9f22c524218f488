import type { Database } from '../database/database.ts'
import type { Viewer } from '../domain/access.ts'
import { type FileListRow, type FileOrder, listFiles } from '../files/file-lists.rows.ts'
import {
  countSubfolders,
  type FolderListRow,
  publicSubfolders,
  type SubfolderOrder,
  subfolderPage,
  subfolderTotals,
  type TreeTotals,
} from '../files/folders/folders.rows.ts'
import type { AccessControl } from './access.ts'

export interface ContentsQuery {
  readonly page: number
  readonly showsPrivate: boolean
  readonly folders: SubfolderOrder
  readonly files: FileOrder
}

export interface FolderContents {
  readonly folders: readonly FolderListRow[]
  readonly files: readonly FileListRow[]
  readonly folderCount: number
  readonly pages: number
  /** Directly in the folder. */
  readonly bytes: number
  readonly firstFilePage: number
  /** On earlier pages. */
  readonly filesBefore: number
}

export interface FolderTotals {
  readonly files: number
  readonly bytes: number
}

const PER_PAGE = 100
/** Only visible folders count, so that a missing total reveals nothing about the others. */
const MOST_FOLDERS = 1000

export function createPublicFolders(db: Database, access: Pick<AccessControl, 'opens'>) {
  return {
    /** Subfolders first, then files. A page past the end is empty. */
    async contents(
      folder: FolderListRow,
      { page, showsPrivate, ...orders }: ContentsQuery,
    ): Promise<FolderContents> {
      const first = (page - 1) * PER_PAGE
      const shown = { parent: folder.id, publicOnly: !showsPrivate }
      const count = await countSubfolders(db, { ...shown, atMost: folder.tree_folders })
      const pages = Math.max(1, Math.ceil((count + folder.file_count) / PER_PAGE))
      const below = await subfolderTotals(db, { ids: [folder.id], atMost: folder.tree_folders }, 'all')
      const folders =
        first < count
          ? await subfolderPage(db, { ...shown, ...orders.folders, offset: first, limit: PER_PAGE })
          : []
      const room = PER_PAGE - folders.length
      const filesBefore = Math.max(0, first - count)
      const files =
        room === 0 || page > pages
          ? []
          : await listFiles(db, {
              account: folder.account_id,
              folder: folder.id,
              ...orders.files,
              offset: filesBefore,
              limit: room,
            })
      const firstFilePage = Math.floor(count / PER_PAGE) + 1
      // Clamped: the two are read one after the other.
      const bytes = Math.max(0, folder.tree_bytes - below.tree_bytes)
      return { folders, files, folderCount: count, pages, bytes, firstFilePage, filesBefore }
    },

    /** Totals of the folder and its visible descendants; null when there are too many folders to check. */
    async totals(folder: FolderListRow, viewer: Viewer): Promise<FolderTotals | null> {
      let files = folder.tree_files
      let bytes = folder.tree_bytes
      const seesAll = viewer.account === folder.account_id || (viewer.link ?? null) !== null
      if (seesAll || folder.tree_folders === 0) return { files, bytes }
      const leaveOut = (hidden: TreeTotals) => {
        files -= hidden.tree_files
        bytes -= hidden.tree_bytes
      }
      const atMost = folder.tree_folders
      let parents = [folder.id]
      const open = [...parents]
      let left = MOST_FOLDERS
      while (parents.length > 0) {
        const below = await publicSubfolders(db, { ids: parents, atMost }, left + 1)
        left -= below.length
        if (left < 0) return null
        for (const locked of below.filter((each) => !access.opens(viewer, each))) leaveOut(locked)
        const opened = below.filter((each) => each.tree_folders > 0 && access.opens(viewer, each))
        parents = opened.map(({ id }) => id)
        open.push(...parents)
      }
      leaveOut(await subfolderTotals(db, { ids: open, atMost }, 'private'))
      // Clamped: a deletion since the folder was read is subtracted twice.
      return { files: Math.max(0, files), bytes: Math.max(0, bytes) }
    },
  }
}

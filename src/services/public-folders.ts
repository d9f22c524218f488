import { type FileListRow, type FileOrder, listFiles } from '../database/files.ts'
import type { FolderListRow } from '../database/folders.ts'
import type { Db } from '../database/schema.ts'
import {
  countSubfolders,
  privateTotals,
  publicSubfolders,
  type SubfolderOrder,
  subfolderPage,
  type TreeTotals,
} from '../database/subfolders.ts'
import type { Viewer } from '../domain/access.ts'
import type { Access } from './access.ts'

/** What the page of a folder shows to somebody who may see the folder. */
export interface PublicFolders {
  /** One page of what is in it: its subfolders first, then its files. Private subfolders only for their owner. */
  contents(folder: FolderListRow, query: ContentsQuery): Promise<FolderContents>
  /**
   * What is in it and in all below it that the viewer may see; nothing else is counted in. null where the viewer may
   * see too many folders to look at.
   */
  totals(folder: FolderListRow, viewer: Viewer): Promise<FolderTotals | null>
}

export interface ContentsQuery {
  /** From 1. */
  readonly page: number
  readonly isOwner: boolean
  readonly folders: SubfolderOrder
  readonly files: FileOrder
}

export interface FolderContents {
  readonly folders: readonly FolderListRow[]
  readonly files: readonly FileListRow[]
  /** Of all pages. */
  readonly folderCount: number
  readonly pages: number
  /** Where the files begin, after all subfolders. */
  readonly firstFilePage: number
}

export interface FolderTotals {
  readonly files: number
  readonly bytes: number
}

const PER_PAGE = 100
/**
 * More folders than this are not looked through for those that a viewer may not see. Only folders that the viewer may
 * see are counted, so that having no total tells nothing of the others.
 */
const MOST_FOLDERS = 1000

export function createPublicFolders(db: Db, access: Access): PublicFolders {
  return {
    async contents(folder, { page, isOwner, ...orders }) {
      const first = (page - 1) * PER_PAGE
      const shown = { parent: folder.id, publicOnly: !isOwner }
      const count = await countSubfolders(db, { ...shown, atMost: folder.tree_folders })
      const folders =
        first < count
          ? await subfolderPage(db, { ...shown, ...orders.folders, offset: first, limit: PER_PAGE })
          : []
      const room = PER_PAGE - folders.length
      const files =
        room === 0
          ? []
          : await listFiles(db, {
              account: folder.account_id,
              folder: folder.id,
              ...orders.files,
              offset: Math.max(0, first - count),
              limit: room,
            })
      const pages = Math.max(1, Math.ceil((count + folder.file_count) / PER_PAGE))
      const firstFilePage = Math.floor(count / PER_PAGE) + 1
      return { folders, files, folderCount: count, pages, firstFilePage }
    },

    async totals(folder, viewer) {
      let files = folder.tree_files
      let bytes = folder.tree_bytes
      if (viewer.account === folder.account_id || folder.tree_folders === 0) return { files, bytes }
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
      leaveOut(await privateTotals(db, { ids: open, atMost }))
      // What went away since the folder itself was read is taken off twice.
      return { files: Math.max(0, files), bytes: Math.max(0, bytes) }
    },
  }
}

import { type FileListRow, listFiles } from '../database/files.ts'
import { countSubfolders, type FolderListRow, subfolderPage } from '../database/folders.ts'
import type { Db } from '../database/schema.ts'

/** What the page of a folder shows to somebody who may see the folder. */
export interface PublicFolders {
  /**
   * One page of what is in it: its subfolders first, then its files, newest first. Private subfolders only for their
   * owner. `page` is from 1.
   */
  contents(folder: FolderListRow, page: number, isOwner: boolean): Promise<FolderContents>
}

export interface FolderContents {
  readonly folders: readonly FolderListRow[]
  readonly files: readonly FileListRow[]
  readonly pages: number
}

const PER_PAGE = 100

export function createPublicFolders(db: Db): PublicFolders {
  return {
    async contents(folder, page, isOwner) {
      const first = (page - 1) * PER_PAGE
      const publicOnly = !isOwner
      const count = await countSubfolders(db, folder.id, publicOnly)
      const folders =
        first < count
          ? await subfolderPage(db, { parent: folder.id, publicOnly, offset: first, limit: PER_PAGE })
          : []
      const room = PER_PAGE - folders.length
      const files =
        room === 0
          ? []
          : await listFiles(db, {
              account: folder.account_id,
              folder: folder.id,
              sort: 'created_at',
              order: 'desc',
              offset: Math.max(0, first - count),
              limit: room,
            })
      return { folders, files, pages: Math.max(1, Math.ceil((count + folder.file_count) / PER_PAGE)) }
    },
  }
}

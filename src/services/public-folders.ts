import { type FileListRow, listFiles } from '../database/files.ts'
import { type FolderListRow, listFolders } from '../database/folders.ts'
import type { Db } from '../database/schema.ts'

/** What the page of a folder shows to somebody who may see the folder. */
export interface PublicFolders {
  /** One page of its files, newest first, and its subfolders; private ones only for their owner. */
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
      const folders = await listFolders(db, folder.account_id, folder.id)
      const files = await listFiles(db, {
        account: folder.account_id,
        folder: folder.id,
        needle: null,
        sort: 'created_at',
        order: 'desc',
        offset: (page - 1) * PER_PAGE,
        limit: PER_PAGE,
      })
      return {
        folders: folders.filter((sub) => isOwner || sub.is_public === 1),
        files,
        pages: Math.max(1, Math.ceil(folder.file_count / PER_PAGE)),
      }
    },
  }
}

import type { FolderListItem } from '../../contract/folders.ts'
import { timestamp } from '../../domain/clock.ts'
import { thumbnailPath } from '../file-answers.ts'
import type { Folder } from './folders.ts'

export function toFolderListItem(folder: Folder): FolderListItem {
  const item = {
    id: folder.identifier,
    name: folder.name,
    public: folder.is_public === 1,
    file_count: folder.file_count,
    created_at: timestamp(folder.created_at),
    parent: folder.parent_identifier,
    parent_id: folder.parent_identifier,
    has_password: folder.password_hash !== null,
    total_files: folder.tree_files,
    total_folders: folder.tree_folders,
    total_size: folder.tree_bytes,
  }
  return folder.cover === null ? item : { ...item, thumbnail_url: thumbnailPath(folder.cover) }
}

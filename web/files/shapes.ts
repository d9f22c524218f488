import * as z from 'zod/mini'
import { fileListItem, filesAnswer } from '../../src/contract/files.ts'
import { folderChangedAnswer, folderListItem, foldersAnswer } from '../../src/contract/folders.ts'
import { type FileEntry, type FolderEntry, fileKey, folderKey, TOP } from './entry.ts'

const fileItem = z.pipe(
  fileListItem,
  z.transform(
    (file): FileEntry => ({
      kind: 'file',
      key: fileKey(file.id),
      id: file.id,
      uuid: file.uuid,
      name: file.name,
      size: file.size,
      type: file.type,
      url: file.url,
      createdAt: file.created_at,
      downloads: file.downloads,
      pictureUrl: file.picture_url,
      isDamaged: file.damaged === true,
      place: file.folder_id,
    }),
  ),
)

const folderItem = z.pipe(
  folderListItem,
  z.transform(
    (folder): FolderEntry => ({
      kind: 'folder',
      key: folderKey(folder.id),
      id: folder.id,
      name: folder.name,
      createdAt: folder.created_at,
      fileCount: folder.file_count,
      isPublic: folder.public,
      hasPassword: folder.has_password,
      place: folder.parent ?? TOP,
    }),
  ),
)

export const filePage = z.extend(filesAnswer, { data: z.array(fileItem) })
export const folderEntries = z.extend(foldersAnswer, { data: z.array(folderItem) })
export const folderEntryAnswer = z.extend(folderChangedAnswer, { data: folderItem })

import * as z from 'zod/mini'
import { type FileEntry, type FolderEntry, fileKey, folderKey, TOP } from './entry.ts'

/** The server's answers, as far as the file manager reads them. */

export const fileItem = z.pipe(
  z.object({
    id: z.number(),
    uuid: z.string(),
    name: z.string(),
    size: z.number(),
    type: z.string(),
    url: z.string(),
    folder_id: z.string(),
    created_at: z.string(),
    downloads: z.number(),
    picture_url: z.string(),
  }),
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
      place: file.folder_id,
    }),
  ),
)

export const folderItem = z.pipe(
  z.object({
    id: z.string(),
    name: z.string(),
    public: z.boolean(),
    file_count: z.number(),
    created_at: z.string(),
    parent: z.nullable(z.string()),
    has_password: z.boolean(),
  }),
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

export const filePage = z.object({
  data: z.array(fileItem),
  pagination: z.object({ total: z.number(), total_exact: z.optional(z.boolean()) }),
})

export const folderList = z.object({ data: z.array(folderItem) })
export const folderAnswer = z.object({ data: folderItem })
export const folderCreated = z.object({ data: z.object({ identifier: z.string() }) })

const detail = z.object({
  id: z.number(),
  uuid: z.string(),
  slug: z.string(),
  name: z.string(),
  size: z.number(),
  type: z.string(),
  url: z.string(),
  has_thumbnail: z.boolean(),
  created_at: z.string(),
  downloads: z.number(),
  views: z.number(),
  sha256: z.string(),
  expires_at: z.string(),
})

export type FileDetail = z.infer<typeof detail>

export const fileAnswer = z.object({ data: detail })

export const filesMoved = z.object({
  data: z.object({
    results: z.array(z.object({ success: z.boolean(), error: z.optional(z.string()) })),
  }),
})

export const signedArchive = z.object({ data: z.object({ url: z.string() }) })

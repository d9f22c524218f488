/** What of the server's answers the client reads. */
import * as z from 'zod'

export const fileItem = z.object({
  id: z.number(),
  uuid: z.string(),
  name: z.string(),
  size: z.number(),
  type: z.string(),
  url: z.string(),
  folder_id: z.string(),
  created_at: z.string(),
  downloads: z.number(),
})
export type FileItem = z.infer<typeof fileItem>

export const fileList = z.object({
  data: z.array(fileItem),
  pagination: z.object({ page: z.number(), pages: z.number(), total: z.number() }),
})

export const fileDetail = z.object({
  data: fileItem.extend({
    slug: z.string(),
    views: z.number(),
    sha256: z.string(),
    expires_at: z.string(),
  }),
})
export type FileDetail = z.infer<typeof fileDetail>['data']

const folderItem = z.object({
  id: z.string(),
  name: z.string(),
  public: z.boolean(),
  file_count: z.number(),
  created_at: z.string(),
  parent: z.string().nullable(),
  has_password: z.boolean(),
})
export type FolderItem = z.infer<typeof folderItem>

export const folderList = z.object({ data: z.array(folderItem) })
export const folderCreated = z.object({ data: z.object({ identifier: z.string(), name: z.string() }) })

export const account = z.object({
  data: z.object({
    id: z.number(),
    username: z.string(),
    storage_used: z.number(),
    storage_limit: z.number(),
    files_count: z.number(),
    folders_count: z.number(),
    api_requests_today: z.number(),
  }),
})
export type Account = z.infer<typeof account>['data']

export const uploaded = z.object({
  slug: z.string(),
  url: z.string(),
  file_id: z.number(),
  uuid: z.string(),
  size: z.number(),
  sha256: z.string(),
})
export type Uploaded = z.infer<typeof uploaded>

export const deletion = z.object({ successful_deletes: z.number(), failed_deletes: z.number() })
export type Deletion = z.infer<typeof deletion>

export const signedAddress = z.object({
  file: z.string(),
  name: z.string(),
  server: z.string(),
  token: z.string(),
})
export type SignedAddress = z.infer<typeof signedAddress>

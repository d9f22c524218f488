import * as z from 'zod/mini'
import { batchOf, component, dataOf, described, extended, listOf, timestampField } from './fields.ts'

export const folderListItem = component(
  'FolderListItem',
  z.object({
    id: z.string(),
    name: z.string(),
    public: z.boolean(),
    file_count: z.int(),
    created_at: timestampField,
    parent: z.nullable(z.string()),
    parent_id: z.nullable(z.string()),
    has_password: z.boolean(),
    total_files: described(z.int(), { description: 'In it and in all below it' }),
    total_folders: described(z.int(), { description: 'Below it' }),
    total_size: described(z.int(), { description: 'Bytes in it and in all below it' }),
    thumbnail_url: z.optional(z.string()),
  }),
)
export type FolderListItem = z.infer<typeof folderListItem>

export const folderDetail = component(
  'FolderDetail',
  extended(folderListItem, {
    path: described(z.array(z.object({ id: z.string(), name: z.string() })), {
      description: 'The folders above it, the outermost first',
    }),
  }),
)

export const foldersAnswer = dataOf(z.array(folderListItem))
export const subfoldersAnswer = listOf(folderListItem)
export const folderAnswer = dataOf(folderDetail)
export const folderChangedAnswer = dataOf(folderListItem)

export const folderCreatedAnswer = z.object({
  success: z.literal(true),
  message: z.string(),
  data: z.object({
    identifier: z.string(),
    name: z.string(),
    hasPassword: z.boolean(),
    parent: z.string(),
  }),
})

export const folderThumbnailAnswer = z.object({
  success: z.literal(true),
  message: z.string(),
  data: z.object({ folder: z.string(), thumbnail_url: z.string() }),
})

export const folderMovedAnswer = z.object({
  success: z.literal(true),
  message: z.string(),
  data: z.object({ folder: z.string(), parent: z.string(), folders_updated: z.int() }),
})

export const foldersMovedAnswer = batchOf(
  z.object({
    parent: z.string(),
    moved: z.int(),
    failed: z.int(),
    results: z.array(
      z.object({
        folder: z.string(),
        success: z.boolean(),
        folders_updated: z.optional(z.int()),
        error: z.optional(z.string()),
      }),
    ),
  }),
)

export const folderFileItem = component(
  'FolderFileItem',
  z.object({
    id: z.int(),
    uuid: z.string(),
    slug: z.string(),
    name: z.string(),
    size: z.int(),
    type: z.string(),
    url: z.string(),
    thumbnail_url: z.string(),
    created_at: timestampField,
  }),
)
export type FolderFileItem = z.infer<typeof folderFileItem>

export const folderFilesAnswer = listOf(folderFileItem)

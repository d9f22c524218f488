import { z } from '@hono/zod-openapi'
import { timestamp } from '../../domain/clock.ts'
import type { Folder } from '../../services/folders.ts'
import { timestampField } from './fields.ts'

export const folderListItem = z
  .object({
    id: z.string(),
    name: z.string(),
    public: z.boolean(),
    file_count: z.number().int(),
    created_at: timestampField,
    parent: z.string().nullable(),
    parent_id: z.string().nullable(),
    has_password: z.boolean(),
    total_files: z.number().int().openapi({ description: 'In it and in all below it' }),
    total_folders: z.number().int().openapi({ description: 'Below it' }),
    total_size: z.number().int().openapi({ description: 'Bytes in it and in all below it' }),
    thumbnail_url: z.string().optional(),
  })
  .openapi('FolderListItem')

export function toFolderListItem(folder: Folder): z.infer<typeof folderListItem> {
  return {
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
}

/** A folder by itself. */
export const folderDetail = folderListItem
  .extend({
    path: z
      .array(z.object({ id: z.string(), name: z.string() }))
      .openapi({ description: 'The folders above it, the outermost first' }),
  })
  .openapi('FolderDetail')

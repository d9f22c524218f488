import { z } from '@hono/zod-openapi'
import { timestamp } from '../../domain/clock.ts'
import type { Slug, Uuid } from '../../domain/ids.ts'
import type { FileDetail, ListedFile } from '../../services/files.ts'
import type { Site } from '../call.ts'
import { timestampField } from './fields.ts'

export const fileListItem = z
  .object({
    id: z.number().int(),
    uuid: z.uuid(),
    name: z.string(),
    size: z.number().int(),
    type: z.string(),
    url: z.string(),
    folder_id: z.string(),
    created_at: timestampField,
    downloads: z.number().int(),
    picture_url: z.string().openapi({
      description:
        'A relative address: the thumbnail where there is or may be one, otherwise the icon of the type, which all files of a kind share and which may be cached for ever',
    }),
  })
  .openapi('FileListItem')

export const fileDetail = z
  .object({
    id: z.number().int(),
    uuid: z.uuid(),
    slug: z.string(),
    name: z.string(),
    size: z.number().int(),
    type: z.string(),
    url: z.string(),
    has_thumbnail: z.boolean(),
    created_at: timestampField,
    downloads: z.number().int(),
    views: z.number().int(),
    folder_id: z.string(),
    sha256: z.string(),
    expires_at: timestampField,
  })
  .openapi('FileDetail')

export const folderFileItem = z
  .object({
    id: z.number().int(),
    name: z.string(),
    size: z.number().int(),
    type: z.string(),
    url: z.string(),
    created_at: timestampField,
  })
  .openapi('FolderFileItem')

export function toFileListItem(
  site: Site,
  file: ListedFile,
  pictureUrl: string,
): z.infer<typeof fileListItem> {
  return {
    id: file.id,
    uuid: file.uuid,
    name: file.name,
    size: file.size,
    type: file.type,
    url: fileUrl(site, file.slug),
    folder_id: file.folder_identifier ?? 'root',
    created_at: timestamp(file.created_at),
    downloads: file.downloads,
    picture_url: pictureUrl,
  }
}

export function toFileDetail(site: Site, file: FileDetail): z.infer<typeof fileDetail> {
  return {
    id: file.id,
    uuid: file.uuid,
    slug: file.slug,
    name: file.name,
    size: file.size,
    type: file.type,
    url: fileUrl(site, file.slug),
    has_thumbnail: site.services.thumbnails.progress(file) === 'ready',
    created_at: timestamp(file.created_at),
    downloads: file.downloads,
    views: file.views,
    folder_id: file.folder_identifier ?? 'root',
    sha256: file.sha256,
    expires_at: timestamp(expiresAt(site, file)),
  }
}

export function toFolderFileItem(site: Site, file: ListedFile): z.infer<typeof folderFileItem> {
  return {
    id: file.id,
    name: file.name,
    size: file.size,
    type: file.type,
    url: fileUrl(site, file.slug),
    created_at: timestamp(file.created_at),
  }
}

export function fileUrl(site: Site, slug: Slug): string {
  return `${site.publicUrl}/d/${slug}`
}

export function thumbnailPath(uuid: Uuid): string {
  return `/t/${uuid}`
}

/** When the file goes away if nobody looks at it, milliseconds since the epoch. */
export function expiresAt(site: Site, file: { readonly last_used_at: number }): number {
  return site.services.fileLifetime.endOf(file.last_used_at)
}

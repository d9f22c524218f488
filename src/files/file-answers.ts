import type { FileDetail as FileDetailAnswer, FileListItem } from '../contract/files.ts'
import type { FolderFileItem } from '../contract/folders.ts'
import { optionalTime, timestamp } from '../domain/clock.ts'
import type { Slug, Uuid } from '../domain/ids.ts'
import type { Site } from '../server/call.ts'
import { iconAddress } from '../thumbnails/icons.ts'
import type { Shownable, Thumbnails } from '../thumbnails/thumbnails.ts'
import type { FileListRow } from './file-lists.rows.ts'
import type { FileDetail, ListedFile } from './files.ts'
import type { Inactivity } from './inactivity.ts'

export function toFileListItem(site: Site, file: ListedFile, pictureUrl: string): FileListItem {
  const item = {
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
  return file.damage === null ? item : { ...item, damaged: true }
}

export function toFileDetail(
  site: Site,
  { files, thumbnails }: { files: { inactivity: Inactivity }; thumbnails: Pick<Thumbnails, 'progress'> },
  file: FileDetail,
): FileDetailAnswer {
  const detail = {
    id: file.id,
    uuid: file.uuid,
    slug: file.slug,
    name: file.name,
    size: file.size,
    type: file.type,
    url: fileUrl(site, file.slug),
    has_thumbnail: thumbnails.progress(file) === 'ready',
    created_at: timestamp(file.created_at),
    downloads: file.downloads,
    views: file.views,
    folder_id: file.folder_identifier ?? 'root',
    sha256: file.sha256,
    verified_at: file.verified_at === null ? null : timestamp(file.verified_at),
    expires_at: optionalTime(files.inactivity.endOf(file)),
  }
  return file.damage === null ? detail : { ...detail, damaged: true }
}

export function toFolderFileItem(site: Site, file: ListedFile): FolderFileItem {
  return {
    id: file.id,
    uuid: file.uuid,
    slug: file.slug,
    name: file.name,
    size: file.size,
    type: file.type,
    url: fileUrl(site, file.slug),
    thumbnail_url: thumbnailPath(file.uuid),
    created_at: timestamp(file.created_at),
  }
}

export function fileUrl(site: Site, slug: Slug): string {
  return `${site.publicUrl}/d/${slug}`
}

export function thumbnailPath(uuid: Uuid): string {
  return `/t/${uuid}`
}

type Pictured = Shownable & { readonly uuid: Uuid; readonly name: string }

/** Relative addresses. Icons are shared by a kind of files and cached by browsers. */
export async function pictureAddresses(
  thumbnails: Pick<Thumbnails, 'without'>,
  files: readonly Pictured[],
): Promise<(file: Pictured) => string> {
  const iconsOnly = await thumbnails.without(files)
  return (file) => (iconsOnly.has(file) ? iconAddress(file.type, file.name) : thumbnailPath(file.uuid))
}

export function pictureAddress(thumbnails: Pick<Thumbnails, 'shows'>, file: FileListRow): string {
  return thumbnails.shows(file) ? thumbnailPath(file.uuid) : iconAddress(file.type, file.name)
}

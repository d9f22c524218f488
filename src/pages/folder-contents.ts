import { cardUrl } from '../domain/card.ts'
import { timestamp } from '../domain/clock.ts'
import type { FolderListRow } from '../files/folders/folders.rows.ts'
import type { Call } from '../server/call.ts'
import type { Opened } from '../sharing/access.ts'
import type { ContentsQuery, FolderContents } from '../sharing/public-folders.ts'
import type { SharingModule } from '../sharing/sharing.module.ts'
import { isIcon } from '../thumbnails/icons.ts'
import { renditionsOf, type Thumbnails } from '../thumbnails/thumbnails.ts'
import { askedOrder, type FolderQuery, readFolderQuery } from './folder-query.ts'
import {
  defaultViewMode,
  rememberedOrder,
  rememberedViewMode,
  rememberOrder,
  rememberViewMode,
} from './folder-view-mode.ts'
import type { PagesModule } from './pages.module.ts'
import type { FolderPageView } from './views.ts'

type ShownFile = FolderContents['files'][number]
type ShownFolder = FolderContents['folders'][number]

/** Depends on how the folder was opened. */
export interface FolderPlace
  extends Pick<FolderPageView, 'name' | 'above' | 'barrier' | 'notice' | 'downloadForm'> {
  readonly path: string
  /** Page whose preview stands for it in chats; null for one that shows nothing of it. */
  readonly card: string | null
  readonly fileAt: (file: ShownFile) => string
  readonly folderAt: (folder: ShownFolder) => string
  readonly pictureOf: (file: ShownFile) => string
  readonly coverOf: (folder: ShownFolder) => string | null
  readonly showsPrivate: boolean
}

export async function folderPage(
  call: Call,
  {
    pages,
    sharing,
    thumbnails,
  }: {
    readonly pages: PagesModule
    readonly sharing: SharingModule
    readonly thumbnails: Pick<Thumbnails, 'pixels'>
  },
  seen: Opened<FolderListRow>,
  place: FolderPlace,
): Promise<Response> {
  const { searchParams } = call.url
  const query = readFolderQuery(searchParams, rememberedOrder(call.request))
  const contents = await sharing.publicFolders.contents(seen.item, contentsQuery(query, place.showsPrivate))
  const url = call.site.publicUrl + place.path
  if (contents.pages > 1 && askedOrder(searchParams) !== null) return rememberOrder(call, url, query)
  const totals = await sharing.publicFolders.totals(seen.item, seen.viewer)
  const files = await fileItems(thumbnails, contents.files, place)
  const view: FolderPageView = {
    name: place.name,
    url,
    cardUrl: cardUrl(call.site.publicUrl, place.card),
    above: place.above,
    folders: contents.folders.map((sub) => ({
      name: sub.name,
      url: place.folderAt(sub),
      fileCount: sharing.access.opens(seen.viewer, sub) ? sub.file_count : null,
    })),
    files,
    folderCount: contents.folderCount,
    fileCount: seen.item.file_count,
    cover: place.coverOf(seen.item),
    facts: { createdAt: seen.item.created_at, bytes: contents.bytes },
    totals,
    query,
    look: query.look ?? rememberedViewMode(call.request) ?? defaultViewMode(files),
    pages: contents.pages,
    firstFilePage: contents.firstFilePage,
    filesBefore: contents.filesBefore,
    barrier: place.barrier,
    notice: place.notice,
    downloadForm: place.downloadForm,
  }
  return rememberViewMode(call, pages, view)
}

export async function fileItems(
  thumbnails: Pick<Thumbnails, 'pixels'>,
  files: readonly ShownFile[],
  { fileAt, pictureOf }: Pick<FolderPlace, 'fileAt' | 'pictureOf'>,
): Promise<FolderPageView['files']> {
  const shown = files.map((file) => ({ file, thumbnailUrl: pictureOf(file) }))
  const pictured = shown.filter(({ thumbnailUrl }) => !isIcon(thumbnailUrl))
  const pixels = await thumbnails.pixels(pictured.map(({ file }) => file))
  const pixelsOf = ({ id }: ShownFile) => pixels.get(id) ?? null
  return shown.map(({ file, thumbnailUrl }) => ({
    name: file.name,
    path: fileAt(file),
    size: file.size,
    type: file.type,
    createdAt: timestamp(file.created_at),
    downloads: file.downloads,
    thumbnailUrl,
    isIcon: isIcon(thumbnailUrl),
    pixels: pixelsOf(file),
    renditions: renditionsOf(thumbnailUrl, pixelsOf(file)),
  }))
}

/** Folders are sorted by name only: their other sort values are not shown. */
function contentsQuery({ page, sort, order }: FolderQuery, showsPrivate: boolean): ContentsQuery {
  const folders = { sort: 'name', order: sort === 'name' ? order : 'asc' } as const
  return { page, showsPrivate, folders, files: { sort, order } }
}

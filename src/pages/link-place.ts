import { optionalTime } from '../domain/clock.ts'
import type { FileId, FolderId, LinkSlug } from '../domain/ids.ts'
import type { FileListRow } from '../files/file-lists.rows.ts'
import type { Opened } from '../sharing/access.ts'
import {
  type LinkNames,
  type LinkTarget,
  type LinkTargets,
  linkPath,
  linkThumbnailPath,
  type OpenLink,
} from '../sharing/links/link-access.ts'
import { iconAddress } from '../thumbnails/icons.ts'
import type { Thumbnails } from '../thumbnails/thumbnails.ts'
import type { FolderPlace } from './folder-contents.ts'
import type { DownloadForm, FilePageView, LinkNotice } from './views.ts'

/** Name of the whole link, in the place of a file's or folder's. */
export const WHOLE_LINK = 'all'

export interface LinkPlace {
  readonly link: LinkSlug
  readonly path: string
  readonly targets: LinkTargets
  /** Name of the link, or else of its targets. */
  readonly title: string
  readonly only: LinkTarget | null
  readonly top: FilePageView['folder']
  readonly notice: LinkNotice
  pathOf(target: LinkTarget): string
  /** Without a target, for the whole link; null where downloads are unlimited. */
  formFor(target: LinkTarget | null): DownloadForm | null
  thumbnailOf(file: Pick<FileListRow, 'id'>): string
  reportOf(file: FileId): string
  pictureOf(file: FileListRow): string
}

export function linkPlace(
  { link, requester, once }: OpenLink,
  targets: LinkTargets,
  {
    thumbnails,
    names,
    publicUrl,
  }: {
    readonly thumbnails: Pick<Thumbnails, 'shows'>
    readonly names: LinkNames
    readonly publicUrl: string
  },
  /** Slots taken of a limited link. */
  taken: number,
): LinkPlace {
  const { files, folders } = targets
  const { max_downloads: max } = link
  const path = linkPath(link.slug)
  const all: readonly (LinkTarget & { readonly name: string })[] = [
    ...folders.map(({ id, name }) => ({ kind: 'folder', id, name }) as const),
    ...files.map(({ id, name }) => ({ kind: 'file', id, name }) as const),
  ]
  const more = all.length > 1 ? ` + ${all.length - 1}` : ''
  const title = link.name ?? `${all[0]?.name ?? ''}${more}`
  const only = all.length === 1 ? (all[0] ?? null) : null
  const isOnly = ({ kind, id }: LinkTarget) => only?.kind === kind && only.id === id
  const thumbnailOf = ({ id }: Pick<FileListRow, 'id'>) =>
    linkThumbnailPath(link.slug, names.of(link.id, { kind: 'file', id }))
  const pathOf = (target: LinkTarget) =>
    isOnly(target) ? path : linkPath(link.slug, names.of(link.id, target))
  return {
    link: link.slug,
    path,
    targets,
    title,
    only,
    top: only === null ? { name: title, url: path } : null,
    notice: {
      name: only === null || (only.kind === 'folder' && link.transfer !== null) ? null : link.name,
      sender: link.sender,
      arrived: arrivedOf(targets),
      message: link.message,
      endsAt: optionalTime(link.ends_at),
      left: max === null ? null : leftFor(requester, Math.max(0, max - taken)),
    },
    pathOf,
    formFor(target) {
      if (max === null) return null
      const query = target?.kind === 'file' ? '?download=1' : '?download=zip'
      return {
        action: linkPath(link.slug, target === null ? WHOLE_LINK : names.of(link.id, target)),
        once,
        address: publicUrl + (target === null ? path : pathOf(target)) + query,
      }
    },
    thumbnailOf,
    reportOf: (id) => `${linkPath(link.slug, names.of(link.id, { kind: 'file', id }))}/report`,
    pictureOf: (file) =>
      max === null && thumbnails.shows(file) ? thumbnailOf(file) : iconAddress(file.type, file.name),
  }
}

/** A visitor who is admitted while no slot is free holds one. */
function leftFor({ link }: OpenLink['requester'], left: number): LinkNotice['left'] {
  return left === 0 && link.visitor !== null ? 'yours' : left
}

function arrivedOf({ unfinished }: LinkTargets): LinkNotice['arrived'] {
  return (
    unfinished && {
      files: unfinished.arrived_files,
      ofFiles: unfinished.announced_files,
      bytes: unfinished.arrived_bytes,
      ofBytes: unfinished.announced_bytes,
    }
  )
}

export function linkFolderPlace(
  { top, notice, pathOf, pictureOf, formFor }: LinkPlace,
  { item, chain }: Opened<{ readonly id: FolderId }>,
): FolderPlace {
  const above = chain.slice(0, -1).map(({ id, name }) => ({ name, url: pathOf({ kind: 'folder', id }) }))
  return {
    path: pathOf({ kind: 'folder', id: item.id }),
    above: top === null ? above : [top, ...above],
    fileAt: ({ id }) => pathOf({ kind: 'file', id }),
    folderAt: ({ id }) => pathOf({ kind: 'folder', id }),
    pictureOf,
    // Shown only to viewers of the folder's own address.
    coverOf: () => null,
    showsPrivate: true,
    barrier: null,
    notice,
    downloadForm: formFor({ kind: 'folder', id: item.id }),
  }
}

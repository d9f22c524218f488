import { optionalTime } from '../domain/clock.ts'
import type { FolderId, LinkSlug, Uuid } from '../domain/ids.ts'
import type { FileListRow } from '../files/file-lists.rows.ts'
import type { Opened } from '../sharing/access.ts'
import type { LinkTargets, OpenLink } from '../sharing/links/link-access.ts'
import { linkPath, linkThumbnailPath } from '../sharing/links/link-paths.ts'
import { iconAddress } from '../thumbnails/icons.ts'
import type { Thumbnails } from '../thumbnails/thumbnails.ts'
import type { FolderPlace } from './folder-contents.ts'
import type { FilePageView, LinkNotice } from './views.ts'

/** A file or folder as the paths below a link name it. */
export type LinkTarget = Uuid | FolderId

/** What the pages of a link have in common. */
export interface LinkPlace {
  readonly link: LinkSlug
  readonly path: string
  readonly targets: LinkTargets
  /** Name of the link, or else of what it opens. */
  readonly title: string
  /** The one thing that the link opens, whose page is that of the link; null for several. */
  readonly only: LinkTarget | null
  /** The page of several things; null where there is one alone. */
  readonly top: FilePageView['folder']
  readonly notice: LinkNotice
  pathOf(target: LinkTarget): string
  /** Path of the thumbnail, or of a shared icon. */
  pictureOf(file: FileListRow): string
}

/** `targets`: what the link opens now. */
export function linkPlace(
  { link, requester }: OpenLink,
  targets: LinkTargets,
  thumbnails: Pick<Thumbnails, 'shows'>,
  /** Places taken of a limited link. */
  taken: number,
): LinkPlace {
  const { files, folders } = targets
  const { max_downloads: max } = link
  const path = linkPath(link.slug)
  const names = [...folders, ...files].map(({ name }) => name)
  const more = names.length > 1 ? ` + ${names.length - 1}` : ''
  const title = link.name ?? `${names[0] ?? ''}${more}`
  const only = names.length === 1 ? (folders[0]?.id ?? files[0]?.uuid ?? null) : null
  return {
    link: link.slug,
    path,
    targets,
    title,
    only,
    top: only === null ? { name: title, url: path } : null,
    notice: {
      name: only === null ? null : link.name,
      message: link.message,
      endsAt: optionalTime(link.ends_at),
      left: max === null ? null : leftFor(requester, Math.max(0, max - taken)),
    },
    pathOf: (target) => (target === only ? path : linkPath(link.slug, target)),
    pictureOf: (file) =>
      max === null && thumbnails.shows(file)
        ? linkThumbnailPath(link.slug, file.uuid)
        : iconAddress(file.type, file.name),
  }
}

/** A visitor who is let in while no place is left has one. */
function leftFor({ link }: OpenLink['requester'], left: number): LinkNotice['left'] {
  return left === 0 && link.visitor !== null ? 'yours' : left
}

/** Of a folder that the link opens, or that lies below one. */
export function linkFolderPlace(
  { top, notice, pathOf, pictureOf }: LinkPlace,
  { item, chain }: Opened<{ readonly id: FolderId }>,
): FolderPlace {
  const above = chain.slice(0, -1).map(({ id, name }) => ({ name, url: pathOf(id) }))
  return {
    path: pathOf(item.id),
    above: top === null ? above : [top, ...above],
    fileAt: ({ uuid }) => pathOf(uuid),
    folderAt: ({ id }) => pathOf(id),
    pictureOf,
    showsPrivate: true,
    barrier: null,
    notice,
  }
}

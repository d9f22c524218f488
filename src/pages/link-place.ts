import { DAY, optionalTime } from '../domain/clock.ts'
import type { FileId, FolderId, LinkSlug } from '../domain/ids.ts'
import type { SentContent } from '../domain/sent-kinds.ts'
import type { FileListRow } from '../files/file-lists.rows.ts'
import type { Opened } from '../sharing/access.ts'
import {
  type LinkNames,
  type LinkTarget,
  type LinkTargets,
  linkPath,
  linkThumbnailPath,
  type OpenLink,
  WHOLE_LINK,
} from '../sharing/links/link-access.ts'
import type { LinkRow } from '../sharing/links/links.rows.ts'
import { iconAddress } from '../thumbnails/icons.ts'
import type { Thumbnails } from '../thumbnails/thumbnails.ts'
import type { FolderPlace } from './folder-contents.ts'
import type { DownloadForm, LinkNotice, PageStep } from './views.ts'

export interface LinkPlace {
  readonly link: LinkSlug
  readonly path: string
  readonly targets: LinkTargets
  /** Name of an archive: of the link, or else of its targets. */
  readonly title: string
  readonly only: LinkTarget | null
  readonly top: PageStep | null
  readonly notice: LinkNotice
  pathOf(target: LinkTarget): string
  /** Null for a transfer without a name. */
  nameOf(folder: { readonly id: FolderId; readonly name: string }): string | null
  /** Without a target, for the whole link; null where downloads are unlimited. */
  formFor(target: LinkTarget | null): DownloadForm | null
  /** Page whose preview stands for a target or the whole link in chats. */
  cardOf(target: LinkTarget | null): string
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
    content,
    now,
  }: {
    readonly thumbnails: Pick<Thumbnails, 'shows'>
    readonly names: LinkNames
    readonly publicUrl: string
    /** For the link's own page. */
    readonly content: SentContent | null
    readonly now: number
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
  const isTitle = only === null || (only.kind === 'folder' && link.transfer !== null)
  return {
    link: link.slug,
    path,
    targets,
    title,
    only,
    top: only === null ? { name: link.name, url: path } : null,
    notice: {
      ...(content === null
        ? NOTHING_SAID
        : { name: isTitle ? null : link.name, sender: senderOf(link), content, message: link.message }),
      arrived: arrivedOf(targets),
      ...endOf(link, now),
      opensOnce: max === 1,
      left: max === null ? null : leftFor(requester, Math.max(0, max - taken)),
    },
    pathOf,
    nameOf: ({ id, name }) => (id === link.transfer ? link.name : name),
    formFor(target) {
      if (max === null) return null
      const query = target?.kind === 'file' ? '?download=1' : '?download=zip'
      return {
        action: linkPath(link.slug, target === null ? WHOLE_LINK : names.of(link.id, target)),
        once,
        address: publicUrl + (target === null ? path : pathOf(target)) + query,
      }
    },
    cardOf: (target) => linkPath(link.slug, target === null ? WHOLE_LINK : names.of(link.id, target)),
    thumbnailOf,
    reportOf: (id) => `${linkPath(link.slug, names.of(link.id, { kind: 'file', id }))}/report`,
    pictureOf: (file) =>
      max === null && thumbnails.shows(file) ? thumbnailOf(file) : iconAddress(file.type, file.name),
  }
}

const NOTHING_SAID = { name: null, sender: null, content: null, message: null }

function senderOf({ display_name, sender }: Pick<LinkRow, 'display_name' | 'sender'>): LinkNotice['sender'] {
  if (display_name !== null) return { name: display_name, isAccount: true }
  return sender === null ? null : { name: sender, isAccount: false }
}

const SOON = 300 * DAY

export function endOf(
  { ends_at }: Pick<LinkRow, 'ends_at'>,
  now: number,
): Pick<LinkNotice, 'endsAt' | 'endsThisYear'> {
  return { endsAt: optionalTime(ends_at), endsThisYear: ends_at !== null && ends_at - now < SOON }
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
  { top, notice, pathOf, nameOf, cardOf, pictureOf, formFor }: LinkPlace,
  { item, chain }: Opened<{ readonly id: FolderId; readonly name: string }>,
): FolderPlace {
  const above = chain
    .slice(0, -1)
    .map((folder) => ({ name: nameOf(folder), url: pathOf({ kind: 'folder', id: folder.id }) }))
  return {
    name: nameOf(item),
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
    card: formFor(null) === null ? cardOf({ kind: 'folder', id: item.id }) : null,
    downloadForm: formFor({ kind: 'folder', id: item.id }),
  }
}

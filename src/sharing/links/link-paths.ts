import type { FolderId, LinkSlug, Uuid } from '../../domain/ids.ts'

/** Paths of what a made link opens: files by UUID and folders by number, because their own addresses outlive it. */
export function linkPath(link: LinkSlug, target?: Uuid | FolderId): string {
  return target === undefined ? `/l/${link}` : `/l/${link}/${target}`
}

export function linkThumbnailPath(link: LinkSlug, file: Uuid): string {
  return `${linkPath(link, file)}/thumbnail`
}

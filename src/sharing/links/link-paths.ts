import type { Signing } from '../../core/hmac.ts'
import type { FileId, FolderId, LinkId, LinkSlug } from '../../domain/ids.ts'

export type LinkTarget =
  | { readonly kind: 'file'; readonly id: FileId }
  | { readonly kind: 'folder'; readonly id: FolderId }

/**
 * Names of files and folders below a link, valid for that link alone: a file's UUID and slug open it at
 * addresses that bypass the link's password, end and limit. A folder has its number, a file its number with
 * an HMAC of link and number, such as `42-0f3a…`.
 */
export interface LinkNames {
  of(link: LinkId, target: LinkTarget): string
  read(link: LinkId, name: string): LinkTarget | null
}

/** At most 15 digits: exact integers. */
const FOLDER = /^\d{1,15}$/
const FILE = /^(\d{1,15})-[0-9a-f]+$/

export function createLinkNames({ tag }: Pick<Signing, 'tag'>): LinkNames {
  const fileName = (link: LinkId, id: FileId) =>
    `${id}-${Buffer.from(tag('link-file', `${link}\n${id}`), 'base64url').toString('hex')}`

  return {
    of: (link, { kind, id }) => (kind === 'file' ? fileName(link, id) : String(id)),

    read(link, name) {
      if (FOLDER.test(name)) return { kind: 'folder', id: Number(name) as FolderId }
      const id = fileNumber(name)
      return id !== null && name === fileName(link, id) ? { kind: 'file', id } : null
    },
  }
}

/** Does not check that the name is one of a given link. */
export function fileNumber(name: string): FileId | null {
  const [, digits] = FILE.exec(name) ?? []
  return digits === undefined ? null : (Number(digits) as FileId)
}

export function linkPath(link: LinkSlug, name?: string): string {
  return name === undefined ? `/l/${link}` : `/l/${link}/${name}`
}

export function linkThumbnailPath(link: LinkSlug, file: string): string {
  return `${linkPath(link, file)}/thumbnail`
}

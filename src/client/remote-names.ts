import { ClientError } from './failure.ts'

/** What people call a thing on the server by. */
export type RemoteName =
  /** Names from the top level down; none is the top level itself. */
  | { readonly kind: 'path'; readonly names: readonly string[] }
  | { readonly kind: 'folder'; readonly identifier: string }
  /** By slug, UUID or number. */
  | { readonly kind: 'file'; readonly identifier: string }

const FOLDER = /^[a-z][a-z0-9]{15}$/
const FILE = /^([A-Za-z][A-Za-z0-9]{11}|\d{1,15}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i

/**
 * `/a/b` is a path; a folder's identifier, a file's slug, UUID or number, and links to either are told apart by their
 * shape. Throws ClientError for anything else.
 */
export function parseRemoteName(text: string): RemoteName {
  if (text === 'root') return { kind: 'path', names: [] }
  if (text.startsWith('/')) {
    const names = text.split('/').filter((name) => name !== '')
    return { kind: 'path', names }
  }
  const [, page, linked] = /^https?:\/\/[^/]+\/([df])\/([A-Za-z0-9]+)\/?$/.exec(text) ?? []
  if (page !== undefined && linked !== undefined) {
    return { kind: page === 'd' ? 'file' : 'folder', identifier: linked }
  }
  if (FOLDER.test(text)) return { kind: 'folder', identifier: text }
  if (FILE.test(text)) return { kind: 'file', identifier: text }
  throw new ClientError(
    `"${text}" is no name for a file or folder; use a path such as /photos/2026, a link, a slug, or an identifier.`,
  )
}

/** The slug of a link with terms: given so, or in its address. Throws ClientError for anything else. */
export function parseLinkName(text: string): string {
  const [, slug] = /^(?:https?:\/\/[^/]+\/l\/)?([a-z0-9-]{3,64})\/?$/.exec(text) ?? []
  if (slug !== undefined) return slug
  throw new ClientError(`"${text}" is no shared link; use its address, or the end of it.`)
}

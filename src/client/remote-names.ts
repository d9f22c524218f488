import { ClientError } from './failure.ts'

export type RemoteName =
  /** From the top level down; empty for the top level itself. */
  | { readonly kind: 'path'; readonly names: readonly string[] }
  | { readonly kind: 'folder'; readonly identifier: string }
  | { readonly kind: 'file'; readonly identifier: string }

const FOLDER = /^[a-z][a-z0-9]{15}$/
const FILE = /^([A-Za-z][A-Za-z0-9]{11}|\d{1,15}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i

/** Throws ClientError for anything but a path, an identifier, a slug, a UUID, a number or a link. */
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

/** Throws ClientError for anything but a slug or a link's address. */
export function parseLinkName(text: string): string {
  const [, slug] = /^(?:https?:\/\/[^/]+\/l\/)?([a-z0-9-]{3,64})\/?$/.exec(text) ?? []
  if (slug !== undefined) return slug
  throw new ClientError(`"${text}" is no shared link; use its address, or the end of it.`)
}

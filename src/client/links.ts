import { ClientError } from './failure.ts'

/** What can be downloaded, and where it is. */
export type Link =
  | { readonly kind: 'file'; readonly server: string; readonly slug: string }
  | { readonly kind: 'folder'; readonly server: string; readonly identifier: string }
  /** A made link. */
  | { readonly kind: 'link'; readonly server: string; readonly slug: string }
  /** Bytes at an address of their own, such as a signed one. */
  | { readonly kind: 'bytes'; readonly url: string }

/** Reads an address. Throws ClientError for one that leads to no file or folder. */
export function parseLink(text: string): Link {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ClientError(`"${text}" is not the address of a file or a folder.`)
  }
  const [, page, name = ''] = /^\/([df])\/([A-Za-z0-9]+)\/?$/.exec(url.pathname) ?? []
  if (page === 'd') return { kind: 'file', server: url.origin, slug: name }
  if (page === 'f') return { kind: 'folder', server: url.origin, identifier: name }
  const made = /^\/l\/([a-z0-9-]+)\/?$/.exec(url.pathname)?.[1]
  if (made !== undefined) return { kind: 'link', server: url.origin, slug: made }
  if (/^\/(v2|z)\/[^/]+$/.test(url.pathname)) return { kind: 'bytes', url: url.href }
  throw new ClientError(
    `"${text}" leads to no file or folder; links look like https://files.example.org/d/…, /f/… or /l/….`,
  )
}

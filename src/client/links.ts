import { ClientError } from './failure.ts'

export type Link =
  | { readonly kind: 'file'; readonly server: string; readonly slug: string }
  | { readonly kind: 'folder'; readonly server: string; readonly identifier: string }
  | { readonly kind: 'link'; readonly server: string; readonly slug: string }
  | { readonly kind: 'bytes'; readonly url: string }

/** Throws ClientError. */
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

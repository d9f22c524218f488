import { readFileSync } from 'node:fs'
import { mark } from './pages/mark.ts'

export interface Asset {
  readonly body: Uint8Array | string
  /** The Content-Type. */
  readonly type: string
}

/** In this order: what all pages share, then what one kind of page adds. */
const stylesheet = ['style.css', 'pages/file.css', 'pages/folder.css', 'pages/message.css', 'pages/start.css']
  .map((path) => readFileSync(new URL(path, import.meta.url), 'utf8'))
  .join('\n')

const favicon = [
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f766e"/>',
  '<g transform="translate(4 4)" fill="none" stroke="#fff" stroke-linecap="round" stroke-linejoin="round" ',
  `stroke-width="2"><path d="${mark}"/></g></svg>`,
].join('')

export const stylesheetPath = hashed('site', 'css', stylesheet)
export const faviconPath = hashed('favicon', 'svg', favicon)

/** Everything the pages load from this site, by path. A path names its content, so it may be cached for ever. */
export const assets: ReadonlyMap<string, Asset> = new Map([
  [stylesheetPath, { body: stylesheet, type: 'text/css; charset=utf-8' }],
  [faviconPath, { body: favicon, type: 'image/svg+xml' }],
])

function hashed(name: string, extension: string, body: string): string {
  const hash = new Bun.CryptoHasher('sha256').update(body).digest('hex').slice(0, 8)
  return `/assets/${name}-${hash}.${extension}`
}

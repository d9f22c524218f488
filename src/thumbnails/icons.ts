import { extensionOf } from '../domain/file-name.ts'
import { type IconKind, iconKindOf } from '../domain/icon-kind.ts'

/** Colours of the sheet and of its folded corner, and the symbol as a path in a square of 24 units. */
const looks: Record<IconKind, { readonly sheet: string; readonly fold: string; readonly lines: string }> = {
  image: {
    sheet: '#6d5ba8',
    fold: '#a99bd6',
    lines: 'M6 8a2 2 0 1 0 4 0 2 2 0 1 0-4 0M2.5 19l6-6 4 4 3.5-3.5 5.5 5.5',
  },
  video: { sheet: '#3f6cab', fold: '#93b3de', lines: 'M8 5v14l11.5-7z' },
  audio: {
    sheet: '#97598a',
    fold: '#cf9fc4',
    lines:
      'M9 17.5V6l11-2v11.5M9 17.5a3 2.5 0 1 1-6 0 3 2.5 0 0 1 6 0zM20 15.5a3 2.5 0 1 1-6 0 3 2.5 0 0 1 6 0z',
  },
  pdf: { sheet: '#a3563f', fold: '#dba18f', lines: 'M4 4h7v7H4zM15 5h5M15 10h5M4 15h16M4 20h11' },
  text: { sheet: '#5f7076', fold: '#a5b3b8', lines: 'M4 5h16M4 10h11M4 15h16M4 20h7' },
  code: { sheet: '#3d5a6c', fold: '#8facbd', lines: 'M7.5 7l-5 5 5 5M16.5 7l5 5-5 5M14 4.5l-4 15' },
  archive: {
    sheet: '#8a6d3b',
    fold: '#c9b083',
    lines: 'M9.5 3H12M12 6.5h2.5M9.5 10H12M12 13.5h2.5M9.5 17h5v4.5h-5z',
  },
  spreadsheet: { sheet: '#3f7f56', fold: '#93c4a5', lines: 'M3 4.5h18v15H3zM3 9.5h18M3 14.5h18M9.5 4.5v15' },
  presentation: {
    sheet: '#b0703a',
    fold: '#e0b48c',
    lines: 'M2.5 4h19M4 4v12h16V4M8 21l4-5 4 5M8.5 12.5v-2M12 12.5v-5M15.5 12.5V9',
  },
  document: { sheet: '#44699b', fold: '#9ab5d9', lines: 'M4 5h9M4 10h16M4 15h16M4 20h12' },
  font: { sheet: '#57606f', fold: '#a4acb8', lines: 'M4 20L11.5 4h1L20 20M7 14h10M2.5 20h4M17 20h4.5' },
  application: { sheet: '#4d5f8f', fold: '#9fadd2', lines: 'M3 5h18v14H3zM3 9.5h18M6 7.25h.01M9 7.25h.01' },
  other: {
    sheet: '#667579',
    fold: '#a9b6b9',
    lines:
      'M3.5 12a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0M10.5 12a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0M17.5 12a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0',
  },
}

/**
 * Icon for a file without a picture: a square SVG of a sheet in its kind's colour, with the name's extension. Readable
 * on light and dark backgrounds; without styles, which a content security policy could block.
 */
export function iconFor(type: string, name: string): string {
  const extension = extensionOf(name)
  return drawn(iconKindOf(type, extension), lettersOf(extension))
}

/** Whether the address of a picture is `iconAddress`. */
export function isIcon(address: string): boolean {
  return address.startsWith('/assets/')
}

/** Address of that icon, shared by all files of a kind. Changes with the drawing, so it may be cached for ever. */
export function iconAddress(type: string, name: string): string {
  for (const icon of recent) {
    if (icon.type === type && hasEnding(name, icon.ending)) return icon.address
  }
  const extension = extensionOf(name)
  const address = addressOf(type, extension)
  if (extension === '' || !name.endsWith(extension)) return address
  if (recent.length === MOST_RECENT) recent.pop()
  recent.unshift({ type, ending: `.${extension}`, address })
  return address
}

/** By recent lower-case ending: comparing endings is much faster than parsing a hundred names for each page. */
const recent: { readonly type: string; readonly ending: string; readonly address: string }[] = []
const MOST_RECENT = 8

/** Whether the extension of the name is `ending`, which begins with its dot, exactly. */
function hasEnding(name: string, ending: string): boolean {
  return name.length > ending.length && name.endsWith(ending)
}

function addressOf(type: string, extension: string): string {
  let address = addresses.get(extension)?.get(type)
  if (address === undefined) {
    const letters = lettersOf(extension)
    const kind = iconKindOf(type, extension)
    address = `/assets/icon-${VERSION}-${kind}${letters === '' ? '' : `-${encodeURIComponent(letters)}`}.svg`
    remember(extension, type, address)
  }
  return address
}

/** By extension and type: a page of a list repeats few of them. */
const addresses = new Map<string, Map<string, string>>()
const MOST_ADDRESSES = 1000
let remembered = 0

function remember(extension: string, type: string, address: string): void {
  if (remembered === MOST_ADDRESSES) {
    addresses.clear()
    remembered = 0
  }
  remembered += 1
  const alike = addresses.get(extension)
  if (alike === undefined) addresses.set(extension, new Map([[type, address]]))
  else alike.set(type, address)
}

export function iconAnswer(asset: string): Response | null {
  const [, version, kind = '', letters = ''] = /^icon-(\w{8})-([a-z]+)(?:-(.+))?\.svg$/u.exec(asset) ?? []
  if (version !== VERSION || !isKind(kind) || letters !== lettersOf(letters)) return null
  return new Response(drawn(kind, letters), {
    headers: {
      ...iconHeaders,
      'Cache-Control': 'public, max-age=31536000, immutable',
    },
  })
}

export const iconHeaders = {
  'Content-Type': 'image/svg+xml',
  'Content-Security-Policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
  'Cross-Origin-Resource-Policy': 'cross-origin',
} as const

function isKind(text: string): text is IconKind {
  return Object.hasOwn(looks, text)
}

function drawn(kind: IconKind, letters: string): string {
  const { sheet, fold, lines } = looks[kind]
  const label = labelOf(letters)
  const top = label === '' ? 128 : 110
  return [
    '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="320" viewBox="0 0 320 320">',
    `<path d="M84 24h102l64 64v194a14 14 0 0 1-14 14H84a14 14 0 0 1-14-14V38a14 14 0 0 1 14-14z" fill="${sheet}"/>`,
    `<path d="M186 24l64 64h-50a14 14 0 0 1-14-14z" fill="${fold}"/>`,
    `<g transform="translate(112 ${top}) scale(4)" fill="none" stroke="#fff" stroke-linecap="round" `,
    `stroke-linejoin="round" stroke-width="2"><path d="${lines}"/></g>${label}</svg>`,
  ].join('')
}

function lettersOf(extension: string): string {
  const letters = extension.toUpperCase().replace(/[^\p{L}\p{N}]/gu, '')
  return [...letters].length > 8 ? '' : letters
}

function labelOf(text: string): string {
  const letters = [...text]
  if (letters.length === 0) return ''
  const size = letters.length <= 4 ? 40 : letters.length <= 6 ? 30 : 24
  const font = `font-family="system-ui, 'Segoe UI', Roboto, sans-serif" font-size="${size}" font-weight="700"`
  const escaped = Bun.escapeHTML(text)
  return `<text x="160" y="270" fill="#fff" ${font} letter-spacing="1" text-anchor="middle">${escaped}</text>`
}

/** Hash over the drawings, which changes the addresses whenever the icons change. */
const VERSION = new Bun.CryptoHasher('sha256')
  .update(
    Object.keys(looks)
      .map((kind) => (isKind(kind) ? drawn(kind, 'A') : ''))
      .join(''),
  )
  .digest('hex')
  .slice(0, 8)

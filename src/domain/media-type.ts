import { type FileTypeResult, fileTypeFromBuffer } from 'file-type'
import mimeDb from 'mime-db'
import { extensionOf } from './file-name.ts'
import { textKindOf } from './icon-kind.ts'
import { isText } from './text-bytes.ts'

const UNKNOWN = 'application/octet-stream'
const TEXT = 'text/plain'

/** RFC 6838 §4.2, so no wildcards. */
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/

/**
 * Overrides for extensions for which mime-db lists several types, an uncommon one, or none: the raw photos of cameras have the
 * types that their contents tell.
 */
const PREFERRED_TYPES: Readonly<Record<string, string>> = {
  '3gpp': 'video/3gpp',
  arw: 'image/x-sony-arw',
  cr2: 'image/x-canon-cr2',
  cr3: 'image/x-canon-cr3',
  flac: 'audio/flac',
  jfif: 'image/jpeg',
  mp4: 'video/mp4',
  mpg4: 'video/mp4',
  mpp: 'application/vnd.ms-project',
  mts: 'video/mp2t',
  nef: 'image/x-nikon-nef',
  orf: 'image/x-olympus-orf',
  org: 'text/x-org',
  raf: 'image/x-fujifilm-raf',
  rs: 'text/plain',
  rw2: 'image/x-panasonic-rw2',
  wav: 'audio/wav',
}

/** Either text or another format: TypeScript or film, VHDL or disk, public key or presentation. */
const SOMETIMES_TEXT: ReadonlySet<string> = new Set(
  'ts mts bat cu dist dot key mmd pot pub scm tpl vhd'.split(' '),
)

const typeOfExtension: ReadonlyMap<string, string> = buildTable()

/**
 * Lower case, no parameters. By the extension, else the declared type unless malformed or application/octet-stream,
 * else the first bytes, else application/octet-stream. Source code is text/plain where nothing says more: browsers show
 * it and run nothing. `head`: the first 4,100 bytes suffice.
 */
export async function mediaType(name: string, declared: string | null, head: Uint8Array): Promise<string> {
  const extension = extensionOf(name)
  const named = typeOfExtension.get(extension)
  if (named !== undefined) {
    return SOMETIMES_TEXT.has(extension) && isFilledText(head) ? TEXT : named
  }
  const [essence = ''] = (declared ?? '').split(';')
  const stated = essence.trim().toLowerCase()
  if (stated !== UNKNOWN && MEDIA_TYPE.test(stated)) return stated
  // Two letters at the beginning of a text may be the mark of another format.
  if (textKindOf(name) !== null && isFilledText(head)) return TEXT
  const found = await fileTypeFromBuffer(head)
  return found === undefined ? UNKNOWN : typeOfContent(found)
}

export function mediaTypeOfName(name: string): string | undefined {
  return typeOfExtension.get(extensionOf(name)) ?? (textKindOf(name) === null ? undefined : TEXT)
}

/** Precedence per extension: IANA, Apache, nginx, the rest; octet-stream last. */
function buildTable(): Map<string, string> {
  const best = new Map<string, { type: string; rank: number }>()
  for (const [type, { source, extensions = [] }] of Object.entries(mimeDb)) {
    const rank = type === UNKNOWN ? 4 : source === undefined ? 3 : ['iana', 'apache', 'nginx'].indexOf(source)
    for (const extension of extensions) {
      const known = best.get(extension)
      if (known === undefined || rank < known.rank) best.set(extension, { type, rank })
    }
  }
  const table = new Map([...best].map(([extension, { type }]) => [extension, type]))
  for (const [extension, type] of Object.entries(PREFERRED_TYPES)) table.set(extension, type)
  return table
}

function isFilledText(head: Uint8Array): boolean {
  return head.length > 0 && isText(head)
}

/** As a name with that extension would have it, so that a file is the same with a name and without; never with parameters. */
function typeOfContent({ ext, mime }: FileTypeResult): string {
  const [essence = UNKNOWN] = mime.split(';')
  const named = typeOfExtension.get(ext) ?? UNKNOWN
  return named === UNKNOWN ? essence : named
}

/**
 * Name for an unnamed file, such as program output: `text.txt`, `file.png`, or `file.bin` for unknown bytes. A declared
 * type (`type/subtype` in lower case) decides the extension. `head`: the first 4,100 bytes suffice.
 */
export async function nameByContent(head: Uint8Array, declared: string | null): Promise<string> {
  const isTextual = isText(head)
  const [stated] = (declared === UNKNOWN ? undefined : mimeDb[declared ?? '']?.extensions) ?? []
  if (stated !== undefined) return `${isTextual ? 'text' : 'file'}.${stated}`
  const found = (await fileTypeFromBuffer(head))?.ext
  // A text may begin with another format's two letters; a PDF may begin all ASCII.
  if (isTextual && found !== 'pdf') return 'text.txt'
  return `file.${found ?? 'bin'}`
}

/** Containers with posters, by ffmpeg's demuxer names. */
export type VideoFormat = 'mov' | 'matroska' | 'avi' | 'flv' | 'mpegts' | 'mpeg' | 'asf' | 'ogg'

export type ThumbnailKind = 'image' | VideoFormat

export const THUMBNAIL_HEAD = 4096

/** By signatures in the first bytes only: a false one shows when the thumbnail is made. Null: no thumbnail. */
export function thumbnailKind(head: Uint8Array): ThumbnailKind | null {
  const beginning = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, THUMBNAIL_HEAD))
  const text = beginning.toString('latin1')
  const found = signatures.find(([, ...marks]) => marks.every(([at, mark]) => text.startsWith(mark, at)))
  if (found !== undefined) return found[0]
  if (text.startsWith('ftyp', 4)) return isoKind(text)
  // Most Ogg files are audio; video names its codec on the first pages.
  return text.startsWith('OggS') && text.includes('\x80theora') ? 'ogg' : null
}

type Mark = readonly [at: number, text: string]

const signatures: readonly (readonly [ThumbnailKind, ...Mark[]])[] = [
  ['image', [0, '\xff\xd8\xff']], // JPEG
  ['image', [0, '\x89PNG\r\n\x1a\n']],
  ['image', [0, 'GIF87a']],
  ['image', [0, 'GIF89a']],
  ['image', [0, 'RIFF'], [8, 'WEBP']],
  ['image', [0, 'II*\0']], // TIFF, and BigTIFF, in either order of bytes
  ['image', [0, 'II+\0']],
  ['image', [0, 'MM\0*']],
  ['image', [0, 'MM\0+']],
  ['matroska', [0, '\x1a\x45\xdf\xa3']],
  ['avi', [0, 'RIFF'], [8, 'AVI ']],
  ['flv', [0, 'FLV\x01']],
  ['mpegts', [0, '\x47'], [188, '\x47'], [376, '\x47']],
  ['mpeg', [0, '\0\0\x01\xba']],
  ['asf', [0, '\x30\x26\xb2\x75\x8e\x66\xcf\x11']],
  // QuickTime before the `ftyp` box.
  ['mov', [4, 'moov']],
  ['mov', [4, 'mdat']],
  ['mov', [4, 'wide']],
]

/** ISO/IEC 14496-12 brands of audio or still images. */
const NOT_VIDEO = /^(?:M4A |M4B |M4P |F4A |hei[cmxs]|hev[cmxs]|jxl |jp2 |jpx |crx |mif1|msf1|miaf|avi[fs])/

function isoKind(text: string): ThumbnailKind | null {
  const length = (text.charCodeAt(2) << 8) | text.charCodeAt(3)
  const brands = text.slice(8, Math.max(12, length))
  if (!NOT_VIDEO.test(brands)) return 'mov'
  // Some encoders put a generic image brand first and the specific one after it.
  return /^(?:avif|avis|mif1|msf1|miaf|hei[cmxs])/.test(brands) && /avi[fs]|hei[cmxs]/.test(brands)
    ? 'image'
    : null
}

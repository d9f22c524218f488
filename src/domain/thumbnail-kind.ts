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
  return /^(?:avif|avis|mif1|msf1|miaf)/.test(brands) && /avi[fs]/.test(brands) ? 'image' : null
}

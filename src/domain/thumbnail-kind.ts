/** Containers of video that a poster can be made from, by the names under which ffmpeg reads them. */
export type VideoFormat = 'mov' | 'matroska' | 'avi' | 'flv' | 'mpegts' | 'mpeg' | 'asf' | 'ogg'

/** What a content is to whoever makes thumbnails. */
export type ThumbnailKind = 'image' | VideoFormat

/** Bytes from the beginning that are enough to tell. */
export const THUMBNAIL_HEAD = 4096

/**
 * Whether a content that begins like this may have a thumbnail, and how it is read for it; null for everything else.
 * The content alone decides, and nothing is parsed: whether it is what it begins like shows when the thumbnail is made.
 */
export function thumbnailKind(head: Uint8Array): ThumbnailKind | null {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, THUMBNAIL_HEAD)).toString(
    'latin1',
  )
  return images.some((pattern) => pattern.test(text)) ? 'image' : (isoKind(text) ?? videoFormat(text))
}

const images: readonly RegExp[] = [
  /^\xff\xd8\xff/, // JPEG
  /^\x89PNG\r\n\x1a\n/,
  /^GIF8[79]a/,
  /^RIFF[^]{4}WEBP/,
  /^(?:II[*+]\0|MM\0[*+])/, // TIFF and BigTIFF
]

const videos: readonly (readonly [RegExp, VideoFormat])[] = [
  [/^\x1a\x45\xdf\xa3/, 'matroska'],
  [/^RIFF[^]{4}AVI /, 'avi'],
  [/^FLV\x01/, 'flv'],
  [/^\x47[^]{187}\x47[^]{187}\x47/, 'mpegts'],
  [/^\0\0\x01\xba/, 'mpeg'],
  [/^\x30\x26\xb2\x75\x8e\x66\xcf\x11/, 'asf'],
  // Ogg is mostly sound: a film names its codec on the first pages.
  [/^OggS[^]*\x80theora/, 'ogg'],
  // QuickTime from before there was a box that names the kind of file.
  [/^[^]{4}(?:moov|mdat|wide)/, 'mov'],
]

function videoFormat(text: string): VideoFormat | null {
  return videos.find(([pattern]) => pattern.test(text))?.[1] ?? null
}

/** Brands of ISO base media files (ISO/IEC 14496-12) that are sound, or pictures that nobody here can decode. */
const NEITHER = /^(?:M4A |M4B |M4P |F4A |hei[cmxs]|hev[cmxs]|jxl |jp2 |jpx |crx |mif1|msf1|miaf)/

function isoKind(text: string): ThumbnailKind | null {
  if (text.slice(4, 8) !== 'ftyp') return null
  const length = (text.charCodeAt(2) << 8) | text.charCodeAt(3)
  const brands = text.slice(8, Math.max(12, length))
  if (/^(?:avif|avis)/.test(brands)) return 'image'
  if (!NEITHER.test(brands)) return 'mov'
  // A general picture brand is said first by some encoders, and what it is after it.
  return /^(?:mif1|msf1|miaf)/.test(brands) && /avi[fs]/.test(brands) ? 'image' : null
}

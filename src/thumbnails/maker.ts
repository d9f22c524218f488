import type { ThumbnailKind } from '../domain/media-type.ts'

/** Pixels on the longer side. Pictures are never enlarged. */
export const SMALL = 320
export const LARGE = 960
/** Only for pictures with more pixels than the large one. */
export const SCREEN = 1920

/** Bytes of one size; WebP normally needs far less. */
export const MOST_BYTES = 4 * 1024 * 1024

/** WebP pictures, rotated according to EXIF and without metadata. */
export interface Thumbnail {
  readonly small: Uint8Array
  /** Null where the content has no more pixels than the small picture. */
  readonly large: Uint8Array | null
  /** Null where the large picture has all pixels, and for animated content. */
  readonly screen: Uint8Array | null
  /** Browsers ignore the content's own orientation. */
  readonly isTurned: boolean
  /** Pixels of the content, upright. */
  readonly width: number
  readonly height: number
}

/** `none`: this content never has a thumbnail. `unsupported`: this machine lacks a required program. */
export type ThumbnailResult =
  | { readonly kind: 'made'; readonly thumbnail: Thumbnail }
  | { readonly kind: 'none'; readonly reason: string }
  | { readonly kind: 'unsupported' }

export interface Source {
  readonly size: number
  readInto(start: number, target: Uint8Array): Promise<void>
}

export function inMemory(bytes: Uint8Array): Source {
  return {
    size: bytes.byteLength,
    async readInto(start, target) {
      target.set(bytes.subarray(start, start + target.byteLength))
    },
  }
}

/** Makes thumbnails in isolation: a malicious content affects only its own thumbnail. */
export interface ThumbnailMaker {
  /** Not concurrently. Throws ThumbnailFailed, ThumbnailMakerUnavailable, and what signal or source throw. */
  make(kind: ThumbnailKind, source: Source, signal: AbortSignal): Promise<ThumbnailResult>
  /** Where they can, `unsupported` contents are tried again. */
  canMakePosters(): Promise<boolean>
  close(): void
}

/** The child process cannot be started, for reasons that do not depend on the content. */
export class ThumbnailMakerUnavailable extends Error {
  override readonly name = 'MakerUnavailable'
}

/** The process failed; a retry may succeed. */
export class ThumbnailFailed extends Error {
  override readonly name = 'MakingFailed'
}

/** Thumbnails that a preview for chats shows at most. */
export const CARD_PICTURES = 5

/**
 * Protocol between the server and the process that makes thumbnails. Request: what is wanted, a length, and that many bytes: of a
 * picture, or of the pictures of a card, each after its length. To a card the answer is `made` with one JPEG, or `refused`.
 * Answer: the result, width and height, three lengths and that many bytes. All numbers are big-endian. The process first sends one byte
 * to say that it is ready.
 */

export const READY = Uint8Array.of(0x2b)

export const REQUEST_HEADER = 5
export const ANSWER_HEADER = 21

const KINDS = ['refused', 'made', 'turned'] as const
export type AnswerKind = (typeof KINDS)[number]

/**
 * `made`: the small, the large and the screen-sized picture, each empty where it would equal the previous one.
 * `turned`: as `made`, for a content that browsers show in another orientation. `refused`: only the reason.
 */
export interface AnswerHeader {
  readonly kind: AnswerKind
  /** Pixels of the content, upright; 0 when refused. */
  readonly width: number
  readonly height: number
  readonly lengths: readonly [number, number, number]
}

const WANTED = ['thumbnail', 'picture', 'film', 'collection'] as const
/** A thumbnail, or a card of that kind. */
export type Wanted = (typeof WANTED)[number]

export function requestHeader(wanted: Wanted, length: number): Uint8Array {
  const header = Buffer.alloc(REQUEST_HEADER)
  header.writeUInt8(WANTED.indexOf(wanted))
  header.writeUInt32BE(length, 1)
  return header
}

export function readRequestHeader(bytes: Uint8Array): { readonly wanted: Wanted; readonly length: number } {
  const header = Buffer.from(bytes)
  return { wanted: WANTED[header.readUInt8()] ?? 'thumbnail', length: header.readUInt32BE(1) }
}

export function packPictures(pictures: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(
    pictures.flatMap((picture) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(picture.byteLength)
      return [length, picture]
    }),
  )
}

export function unpackPictures(bytes: Uint8Array): Uint8Array[] {
  const packed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const pictures: Uint8Array[] = []
  for (let at = 0; at < packed.byteLength; ) {
    const end = at + 4 + packed.readUInt32BE(at)
    pictures.push(packed.subarray(at + 4, end))
    at = end
  }
  return pictures
}

export function answer(
  { kind, width, height }: Omit<AnswerHeader, 'lengths'>,
  ...parts: readonly [Uint8Array, Uint8Array, Uint8Array]
): Uint8Array {
  const header = Buffer.alloc(ANSWER_HEADER)
  header.writeUInt8(KINDS.indexOf(kind))
  header.writeUInt32BE(width, 1)
  header.writeUInt32BE(height, 5)
  for (const [at, part] of parts.entries()) header.writeUInt32BE(part.byteLength, 9 + 4 * at)
  return Buffer.concat([header, ...parts])
}

export function readAnswerHeader(bytes: Uint8Array): AnswerHeader {
  const header = Buffer.from(bytes)
  return {
    kind: KINDS[header.readUInt8()] ?? 'refused',
    width: header.readUInt32BE(1),
    height: header.readUInt32BE(5),
    lengths: [header.readUInt32BE(9), header.readUInt32BE(13), header.readUInt32BE(17)],
  }
}

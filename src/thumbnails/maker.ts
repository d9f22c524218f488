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

/**
 * Protocol between the server and the process that makes thumbnails. Request: the length of a picture and its bytes.
 * Answer: the result, width and height, three lengths and that many bytes. All numbers are big-endian. The process first sends one byte
 * to say that it is ready.
 */

export const READY = Uint8Array.of(0x2b)

export const REQUEST_HEADER = 4
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

export function requestHeader(length: number): Uint8Array {
  const header = Buffer.alloc(REQUEST_HEADER)
  header.writeUInt32BE(length)
  return header
}

export function readRequestHeader(header: Uint8Array): number {
  return Buffer.from(header).readUInt32BE()
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

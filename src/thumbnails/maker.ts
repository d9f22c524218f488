import type { ThumbnailKind } from '../domain/thumbnail-kind.ts'

/** Pixels on the longer side. Pictures are never enlarged. */
export const SMALL = 320
export const LARGE = 960
/** Screen-sized picture, made only of pictures with more pixels than the large one. */
export const SCREEN = 1920

/** Maximum bytes of one size of a thumbnail, far more than WebP normally needs. */
export const MOST_BYTES = 4 * 1024 * 1024

/** WebP pictures, rotated according to EXIF and without metadata. */
export interface Thumbnail {
  readonly small: Uint8Array
  /** null where the content has no more pixels than the small picture. */
  readonly large: Uint8Array | null
  /** null where the large picture has all pixels, and for animated content. */
  readonly screen: Uint8Array | null
  /** Whether browsers show the content itself otherwise: they ignore its orientation. */
  readonly isTurned: boolean
}

/**
 * `none`: the content cannot have a thumbnail, now or later. `unsupported`: this machine lacks a required
 * program.
 */
export type ThumbnailResult =
  | { readonly kind: 'made'; readonly thumbnail: Thumbnail }
  | { readonly kind: 'none'; readonly reason: string }
  | { readonly kind: 'unsupported' }

/** Random access to the bytes of a content. */
export interface Source {
  readonly size: number
  /** Fills the target with the bytes from `start`. */
  readInto(start: number, target: Uint8Array): Promise<void>
}

/** Makes thumbnails in isolation: a malicious content affects nothing but its own thumbnail. */
export interface ThumbnailMaker {
  /**
   * Must not be called concurrently. Throws MakingFailed when the process exceeded a limit or crashed,
   * MakerUnavailable, the reason of the signal, and what the source throws.
   */
  make(kind: ThumbnailKind, source: Source, signal: AbortSignal): Promise<ThumbnailResult>
  /** Whether `unsupported` contents may be tried again here. */
  canMakePosters(): Promise<boolean>
  /** Kills running processes. */
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

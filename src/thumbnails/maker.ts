import type { ThumbnailKind } from '../domain/thumbnail-kind.ts'

/** Pixels on the longer side. Nothing is enlarged. */
export const SMALL = 320
export const LARGE = 960
/** What fills a screen. Only of pictures that have more pixels than the large one. */
export const SCREEN = 1920

/** Bytes of one size of a thumbnail, far more than WebP takes for it. */
export const MOST_BYTES = 4 * 1024 * 1024

/** WebP, turned as its camera was held, without any metadata. */
export interface Thumbnail {
  readonly small: Uint8Array
  /** null where the content has no more pixels than the small one. */
  readonly large: Uint8Array | null
  /** null where the large one has all the pixels, and where the content moves. */
  readonly screen: Uint8Array | null
}

/**
 * `none`: nothing can be made of the content, which another try will not change. `unsupported`: this machine lacks what
 * it takes.
 */
export type Making =
  | { readonly kind: 'made'; readonly thumbnail: Thumbnail }
  | { readonly kind: 'none'; readonly reason: string }
  | { readonly kind: 'unsupported' }

/** Where the bytes of a content come from. */
export interface Source {
  readonly size: number
  /** Fills the target with the bytes from `start` on. */
  readInto(start: number, target: Uint8Array): Promise<void>
}

/** Makes thumbnails where they can do no harm: no content, however it is made, costs more than its thumbnail. */
export interface ThumbnailMaker {
  /**
   * One at a time. Throws MakingFailed when the work was ended at one of its limits or ended by itself,
   * MakerUnavailable, the reason of the signal, and what the source throws.
   */
  make(kind: ThumbnailKind, source: Source, signal: AbortSignal): Promise<Making>
  /** Whether what was `unsupported` may be tried again here. */
  canMakePosters(): Promise<boolean>
  /** Ends whatever runs. */
  close(): void
}

/** Whoever is to make thumbnails cannot be started. The content has nothing to do with it. */
export class MakerUnavailable extends Error {
  override readonly name = 'MakerUnavailable'
}

/** Nobody knows whether another try would end better. */
export class MakingFailed extends Error {
  override readonly name = 'MakingFailed'
}

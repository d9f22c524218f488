import type { BlobKey, FileId, UploadId } from '../domain/ids.ts'

/** A blob with bytes of an arriving file: with all of them, or with those of one of the parts that it is made of. */
interface ArrivedPiece {
  readonly key: BlobKey
  /** Where its first byte is in the file. */
  readonly start: number
  /** Bytes of it that are durable. */
  readonly received: number
}

interface Arriving {
  readonly kind: 'arriving'
  /** Null while it is not known: then there is one piece at most. */
  readonly size: number | null
  /** In their order. */
  readonly pieces: readonly ArrivedPiece[]
}

/** How far an upload is: `there` once it has become a file, `gone` when it never will. */
export type Progress =
  | Arriving
  | { readonly kind: 'there'; readonly file: FileId; readonly key: BlobKey; readonly size: number }
  | { readonly kind: 'gone' }

/** Tells how far an upload is. */
export type ProgressOf = (upload: UploadId) => Promise<Progress>

/** Where the bytes at a position of a file are. */
export interface ArrivedBytes {
  readonly key: BlobKey
  /** Where the first byte of the blob is in the file. */
  readonly start: number
  /** The position up to which they may be read. */
  readonly end: number
  /** The size of a blob that is the whole file; null for one that may still grow. */
  readonly whole: number | null
}

/**
 * The durable bytes at the position; null while there are none, and where there never will be. The last byte of an
 * arriving file is not told of, nor is any that may be the last.
 */
export function bytesAt(progress: Progress, position: number): ArrivedBytes | null {
  if (progress.kind === 'gone') return null
  if (progress.kind === 'there') {
    const { key, size } = progress
    return { key, start: 0, end: size, whole: size }
  }
  const piece = progress.pieces.find(
    ({ start, received }) => start <= position && position < start + received,
  )
  if (piece === undefined) return null
  const { key, start, received } = piece
  const end = Math.min(start + received, (progress.size ?? start + received) - 1)
  return position < end ? { key, start, end, whole: null } : null
}

export function receivedIn(progress: Progress): number {
  if (progress.kind !== 'arriving') return 0
  return progress.pieces.reduce((sum, { received }) => sum + received, 0)
}

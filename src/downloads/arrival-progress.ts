import type { KeptBlob } from '../blobs/blob-store.ts'
import type { Arrival } from '../core/arrival.ts'
import type { BlobKey, UploadId } from '../domain/ids.ts'

/** Tells how far an upload is. */
export type ArrivalOf = (upload: UploadId) => Promise<Arrival>

/** Asks for what has come of an upload, and comes, to be made readable: now, or soon. The blob is the one that is needed first. */
export interface PartialReads {
  makeReadable(upload: UploadId, key: BlobKey): Promise<void>
}

/** Where the bytes at a position of a file are. */
export type ArrivedBytes = {
  readonly key: BlobKey
  /** Where the first byte of the blob is in the file. */
  readonly start: number
  /** The position up to which they may be read. */
  readonly end: number
} & (
  | {
      /** Size of the blob, which is complete. */
      readonly whole: number
    }
  | {
      readonly whole: null
      /** What was recorded of the blob, which may still grow. */
      readonly kept: KeptBlob
    }
)

/**
 * The durable bytes at the position; null while there are none, and where there never will be. The last byte of an
 * arriving file is not told of, nor is any that may be the last.
 */
export function bytesAt(arrival: Arrival, position: number): ArrivedBytes | null {
  if (arrival.kind === 'gone') return null
  if (arrival.kind === 'there') {
    const { key, size } = arrival
    return { key, start: 0, end: size, whole: size }
  }
  const piece = arrival.pieces.find(({ start, received }) => start <= position && position < start + received)
  if (piece === undefined) return null
  const { key, start, received, progress } = piece
  const end = Math.min(start + received, (arrival.size ?? start + received) - 1)
  if (position >= end) return null
  if (progress === null) return { key, start, end, whole: received }
  return { key, start, end, whole: null, kept: { offset: received, progress } }
}

export function receivedIn(arrival: Arrival): number {
  if (arrival.kind !== 'arriving') return 0
  return arrival.pieces.reduce((sum, { received }) => sum + received, 0)
}

import type { KeptBlob } from '../blobs/blob-store.ts'
import type { Arrival } from '../core/arrival.ts'
import type { BlobKey, UploadId } from '../domain/ids.ts'

export type ArrivalOf = (upload: UploadId) => Promise<Arrival>

export interface PartialReads {
  makeReadable(upload: UploadId, key: BlobKey): Promise<void>
}

export type ArrivedBytes = {
  readonly key: BlobKey
  readonly start: number
  /** Position in the file, exclusive. */
  readonly end: number
} & (
  | {
      /** Size of a complete blob. */
      readonly whole: number
    }
  | {
      readonly whole: null
      /** State of a blob that may still grow. */
      readonly kept: KeptBlob
    }
)

/** Null while there are none, or never will be. Withholds the last byte of an arriving file, and any that may be it. */
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

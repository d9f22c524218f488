import type { BlobKey, BlobProgress, FileId } from '../domain/ids.ts'

/** A blob with bytes of an arriving file: with all of them, or with those of one of the parts that it is made of. */
export interface ArrivedPiece {
  readonly key: BlobKey
  /** Where its first byte is in the file. */
  readonly start: number
  /** Bytes of it that are durable. */
  readonly received: number
  /** State of the store after these bytes; null where there are none, and once the blob is complete. */
  readonly progress: BlobProgress | null
}

/** How far an upload is: `there` once it has become a file, `gone` when it never will. */
export type Arrival =
  | {
      readonly kind: 'arriving'
      /** Null while it is not known: then there is one piece at most. */
      readonly size: number | null
      /** In their order. */
      readonly pieces: readonly ArrivedPiece[]
    }
  | { readonly kind: 'there'; readonly file: FileId; readonly key: BlobKey; readonly size: number }
  | { readonly kind: 'gone' }

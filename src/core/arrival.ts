import type { BlobKey, BlobProgress, FileId } from '../domain/ids.ts'

/** A blob with all bytes of an arriving file, or those of one partial upload. */
export interface ArrivedPiece {
  readonly key: BlobKey
  readonly start: number
  readonly received: number
  /** Resume state of the store; null without bytes and for a complete blob. */
  readonly progress: BlobProgress | null
}

/** `there`: the upload has become a file. `gone`: it never will. */
export type Arrival =
  | {
      readonly kind: 'arriving'
      /** Null while unknown; there is one piece at most then. */
      readonly size: number | null
      readonly pieces: readonly ArrivedPiece[]
    }
  | { readonly kind: 'there'; readonly file: FileId; readonly key: BlobKey; readonly size: number }
  | { readonly kind: 'gone' }

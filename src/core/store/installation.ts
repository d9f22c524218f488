import type { BlobStore } from '../../blobs/blob-store.ts'
import type { Database } from '../../database/database.ts'

export interface Installation {
  readonly db: Database
  readonly blobs: BlobStore
  /** Several servers may use the database, without another lock between them. */
  readonly isShared: boolean
}

export interface Origin extends Omit<Installation, 'blobs'> {
  readonly blobs: Pick<BlobStore, 'read' | 'size' | 'readMark' | 'writeMark'>
}

/** A half that is not moved is the same object on both sides. */
export interface Move {
  readonly source: Origin
  readonly target: Installation
}

export function movesOf({ source, target }: Move): { readonly rows: boolean; readonly bytes: boolean } {
  return { rows: source.db !== target.db, bytes: source.blobs !== target.blobs }
}

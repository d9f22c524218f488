import type { BlobStore } from '../blobs/blob-store.ts'
import type { Db } from '../database/schema.ts'

/** A database and the store with its bytes. */
export interface Installation {
  readonly db: Db
  readonly blobs: BlobStore
  /** Whether servers may have the database open that nothing else keeps away. */
  readonly isShared: boolean
}

/** What stays where it is, is the same object on both sides. */
export interface Move {
  readonly source: Installation
  readonly target: Installation
}

export function movesOf({ source, target }: Move): { readonly rows: boolean; readonly bytes: boolean } {
  return { rows: source.db !== target.db, bytes: source.blobs !== target.blobs }
}

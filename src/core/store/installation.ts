import type { BlobStore } from '../../blobs/blob-store.ts'
import type { Database } from '../../database/database.ts'

/** A database and its blob store. */
export interface Installation {
  readonly db: Database
  readonly blobs: BlobStore
  /** Whether several servers may use the database at once, with no other lock that excludes them. */
  readonly isShared: boolean
}

/** Source of a copy: an installation, or a point of a backup. */
export interface Origin extends Omit<Installation, 'blobs'> {
  readonly blobs: Pick<BlobStore, 'read' | 'size' | 'readMark' | 'writeMark'>
}

/** Source and target of a relocation. A part that is not moved is the same object on both sides. */
export interface Move {
  readonly source: Origin
  readonly target: Installation
}

export function movesOf({ source, target }: Move): { readonly rows: boolean; readonly bytes: boolean } {
  return { rows: source.db !== target.db, bytes: source.blobs !== target.blobs }
}

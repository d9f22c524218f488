import type { UploadId } from '../../domain/ids.ts'
import type { ContentHash, ContentHashing } from './content-hash.ts'

/** What this process has hashed of unfinished uploads, from their first byte on. */
export interface RunningHashes {
  /** The hash of all before `offset`, for an append that begins there; null when this process has not seen all of it. */
  take(upload: UploadId, offset: number): ContentHash | null
  /** Keeps the hash of all before `offset` for the append that begins there, if one does. */
  leave(upload: UploadId, offset: number, hash: ContentHash): void
}

/** Uploads whose hash is kept between two appends; of others, the file is read back when it is whole. */
const MOST_KEPT = 5000

export function createRunningHashes(hashing: ContentHashing): RunningHashes {
  /** In the order in which they were left. */
  const kept = new Map<UploadId, { readonly offset: number; readonly hash: ContentHash }>()

  function drop(upload: UploadId): void {
    kept.get(upload)?.hash.drop()
    kept.delete(upload)
  }

  return {
    take(upload, offset) {
      const left = kept.get(upload)
      if (left?.offset === offset) {
        kept.delete(upload)
        return left.hash
      }
      drop(upload)
      return offset === 0 ? hashing.start() : null
    },

    leave(upload, offset, hash) {
      drop(upload)
      kept.set(upload, { offset, hash })
      const [oldest] = kept.keys()
      if (kept.size > MOST_KEPT && oldest !== undefined) drop(oldest)
    },
  }
}

import type { UploadId } from '../../domain/ids.ts'
import type { ContentHash, ContentHashing } from './content-hash.ts'

/** Covers uploads that this process has hashed from their first byte on. */
export interface RunningHashes {
  /** Null when this process has not hashed all bytes before. */
  take(upload: UploadId, offset: number): ContentHash | null
  leave(upload: UploadId, offset: number, hash: ContentHash): void
}

/** Other uploads are read back when whole. */
const MOST_KEPT = 5000

export function createRunningHashes(hashing: ContentHashing): RunningHashes {
  /** Oldest first. */
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

import type { KeptBlob, ResumableWriter } from './blob-store.ts'

/**
 * The sitting of a blob that an earlier one had completed when it was killed. `complete` does what may have been left
 * to do.
 */
export function completedBlob(kept: KeptBlob, complete: () => Promise<void>): ResumableWriter {
  return {
    async write(chunk) {
      if (chunk.byteLength > 0) throw new Error('the blob is whole: nothing can be written to it any more')
    },
    keep: async () => kept,
    safe: () => null,
    async complete() {
      await complete()
      return kept.offset
    },
    async close() {},
  }
}

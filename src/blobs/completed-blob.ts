import type { KeptBlob, ResumableWriter } from './blob-store.ts'

/** The completion was killed; `complete` does what remains. */
export function completedBlob(kept: KeptBlob, complete: () => Promise<void>): ResumableWriter {
  return {
    async write(chunk) {
      if (chunk.byteLength > 0) throw new Error('the blob is complete: it takes no more bytes')
    },
    keep: async () => kept,
    safe: () => null,
    async makeReadable() {},
    async complete() {
      await complete()
      return kept.offset
    },
    async close() {},
  }
}

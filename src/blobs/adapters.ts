import type { BlobKey } from '../domain/ids.ts'
import type { KeptBlob, ResumableWriter } from './blob-store.ts'

const AT_ONCE = 8

/** Returns the removed keys; `failed` gets the reasons for the others. */
export async function removeOneByOne(
  keys: readonly BlobKey[],
  remove: (key: BlobKey) => Promise<void>,
  failed: (error: unknown) => void,
): Promise<BlobKey[]> {
  const removed: BlobKey[] = []
  const attempt = async (key: BlobKey) => {
    try {
      await remove(key)
      removed.push(key)
    } catch (error) {
      failed(error)
    }
  }
  for (let at = 0; at < keys.length; at += AT_ONCE) {
    await Promise.all(keys.slice(at, at + AT_ONCE).map(attempt))
  }
  return removed
}

/** Call before completion, since a crash right after it leaves a whole blob and this record. */
export function assertAllKept(kept: KeptBlob | null, written: number): void {
  if (kept === null || kept.offset === written) return
  throw new Error(
    `${written} bytes were written and ${kept.offset} kept: all have to be kept to complete them`,
  )
}

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

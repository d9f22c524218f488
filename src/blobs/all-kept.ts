import type { KeptBlob } from './blob-store.ts'

/**
 * For a blob that is about to be completed: throws unless all of it was kept. After a crash right behind the completion
 * there is a whole blob, and a record that has to fit it.
 */
export function assertAllKept(kept: KeptBlob | null, written: number): void {
  if (kept === null || kept.offset === written) return
  throw new Error(
    `${written} bytes were written and ${kept.offset} kept: all have to be kept to complete them`,
  )
}

import type { KeptBlob } from './blob-store.ts'

/** Call before completion, since a crash right after it leaves a whole blob and this record. */
export function assertAllKept(kept: KeptBlob | null, written: number): void {
  if (kept === null || kept.offset === written) return
  throw new Error(
    `${written} bytes were written and ${kept.offset} kept: all have to be kept to complete them`,
  )
}

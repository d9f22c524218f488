import type { KeptBlob } from './blob-store.ts'

/**
 * Before a blob is completed. A crash right after it leaves whoever goes on with what was recorded and a blob that is
 * whole: were less recorded than that, neither could be made to fit the other.
 */
export function assertAllKept(kept: KeptBlob | null, written: number): void {
  if (kept === null || kept.offset === written) return
  throw new Error(
    `${written} bytes were written and ${kept.offset} kept: all have to be kept to complete them`,
  )
}

import type { BlobKey } from '../domain/ids.ts'

/** Whether a name in a store is a blob key. Anything else there belongs to others. */
export function isBlobKey(name: string): name is BlobKey {
  return /^[0-9a-f]{32}$/.test(name)
}

import type { BlobKey } from '../domain/ids.ts'

/** Whether a name found in a store is one that we gave: nothing else there is ours to touch. */
export function isBlobKey(name: string): name is BlobKey {
  return /^[0-9a-f]{32}$/.test(name)
}

import type { BlobKey } from '../domain/ids.ts'

/** Blobs that a store is asked to remove at the same time. */
const AT_ONCE = 8

/** Removes each of the blobs by itself. Returns those that are gone; `failed` is told why the others are not. */
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

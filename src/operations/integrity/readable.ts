import { type BlobStore, StoreFailure } from '../../blobs/blob-store.ts'
import type { BlobKey } from '../../domain/ids.ts'

const SOME = 64 * 1024

/** The disk fails for every content: no content is damaged. */
export class StoreUnreadable extends StoreFailure {
  override readonly name = 'StoreUnreadable'

  constructor(tried: number, options?: ErrorOptions) {
    super('away', options)
    this.message = `the store cannot be read: the disk fails with one content and with ${tried} others, so none of them counts as damaged`
  }
}

/** Throws StoreUnreadable unless the beginning of one of `others` can be read; does nothing without others. */
export async function assertReadable(
  store: Pick<BlobStore, 'readInto'>,
  others: readonly { readonly key: BlobKey; readonly size: number }[],
): Promise<void> {
  let cause: unknown = null
  for (const { key, size } of others) {
    try {
      return await store.readInto(key, 0, new Uint8Array(Math.min(size, SOME)), size)
    } catch (error) {
      cause = error
    }
  }
  if (others.length > 0) throw new StoreUnreadable(others.length, { cause })
}

import {
  BlobDamaged,
  BlobMissing,
  type BlobStore,
  chunksOf,
  isUnreadable,
  StoreFailure,
} from '../../blobs/blob-store.ts'
import type { Damage } from '../../database/schema.ts'
import type { BlobKey } from '../../domain/ids.ts'
import type { BlobRow } from './integrity.rows.ts'
import { type Throttle, unthrottled } from './throttle.ts'

/** Reads and hashes the whole content; null when it is sound. Throws what the store throws otherwise. */
export async function readDamage(
  blobs: Pick<BlobStore, 'read'>,
  { key, size, sha256 }: Pick<BlobRow, 'key' | 'size' | 'sha256'>,
  throttle: Throttle = unthrottled,
): Promise<Damage | null> {
  const hash = new Bun.CryptoHasher('sha256')
  let read = 0
  try {
    const body = await blobs.read(key, 0, size, size)
    for await (const chunk of chunksOf(body)) {
      hash.update(chunk)
      read += chunk.length
      await throttle(chunk.length)
    }
  } catch (error) {
    if (error instanceof BlobMissing) return 'missing'
    if (error instanceof BlobDamaged) return 'size'
    if (isUnreadable(error)) return 'unreadable'
    throw error
  }
  if (read !== size) return 'size'
  return hash.digest('hex') === sha256 ? null : 'hash'
}

export async function sizeDamage(
  blobs: Pick<BlobStore, 'size'>,
  { key, size }: Pick<BlobRow, 'key' | 'size'>,
): Promise<Damage | null> {
  try {
    const found = await blobs.size(key)
    if (found === null) return 'missing'
    return found === size ? null : 'size'
  } catch (error) {
    if (isUnreadable(error)) return 'unreadable'
    throw error
  }
}

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

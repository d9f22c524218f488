import { BlobDamaged, BlobMissing, type BlobStore, chunksOf, isUnreadable } from '../../blobs/blob-store.ts'
import type { Damage } from '../../database/schema.ts'
import type { BlobKey, Sha256 } from '../../domain/ids.ts'
import { type Throttle, unthrottled } from './throttle.ts'

export interface ContentCopy {
  readonly from: Pick<BlobStore, 'read'>
  readonly fromKey: BlobKey
  readonly to: Pick<BlobStore, 'create'>
  /** A fresh key. */
  readonly toKey: BlobKey
  readonly size: number
  readonly sha256: Sha256
}

/**
 * Copies a content; durable when it returns. Returns the damage where the source's hash differs; then, and
 * after an error, no copy is left. Memory use is independent of the size.
 */
export async function copyVerified(
  copy: ContentCopy,
  throttle: Throttle = unthrottled,
): Promise<Damage | null> {
  const { from, fromKey, to, toKey, size, sha256 } = copy
  const hash = new Bun.CryptoHasher('sha256')
  let read = 0
  const writer = await to.create(toKey)
  try {
    const body = await from.read(fromKey, 0, size, size)
    for await (const chunk of chunksOf(body)) {
      await throttle(chunk.length)
      hash.update(chunk)
      read += chunk.length
      await writer.write(chunk)
    }
    const damage = read === size ? (hash.digest('hex') === sha256 ? null : 'hash') : 'size'
    if (damage === null) await writer.complete()
    else await writer.abort()
    return damage
  } catch (error) {
    await writer.abort()
    if (error instanceof BlobMissing) return 'missing'
    if (error instanceof BlobDamaged) return 'size'
    // Writers throw StoreFailure; other read errors are damage of the source.
    if (isUnreadable(error)) return 'unreadable'
    throw error
  }
}

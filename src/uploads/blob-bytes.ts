import { assertSize, type BlobStore, BlobUnreadable, chunksOf, isUnreadable } from '../blobs/blob-store.ts'
import type { BlobKey } from '../domain/ids.ts'

/** The first `length` bytes, complete or throws BlobMissing, BlobDamaged or StoreFailure. */
export async function* blobBytes(
  blobs: BlobStore,
  key: BlobKey,
  size: number,
  length: number = size,
): AsyncGenerator<Uint8Array> {
  const body = await blobs.read(key, 0, length, size)
  let came = 0
  try {
    for await (const chunk of chunksOf(body)) {
      came += chunk.byteLength
      yield chunk
    }
  } catch (error) {
    throw isUnreadable(error) ? new BlobUnreadable(key, { cause: error }) : error
  }
  assertSize(key, came, length)
}

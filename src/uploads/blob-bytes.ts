import { type BlobStore, eachChunk } from '../blobs/blob-store.ts'
import type { BlobKey } from '../domain/ids.ts'

/** The first `length` bytes, complete or throws BlobMissing, BlobDamaged or StoreFailure. */
export async function* blobBytes(
  blobs: BlobStore,
  key: BlobKey,
  size: number,
  length: number = size,
): AsyncGenerator<Uint8Array> {
  yield* eachChunk(await blobs.read(key, 0, length, size))
}

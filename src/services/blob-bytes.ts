import type { BlobStore } from '../blobs/blob-store.ts'
import type { BlobKey } from '../domain/ids.ts'

/** The bytes of a whole blob as they come from the store, chunk by chunk. */
export async function* blobBytes(blobs: BlobStore, key: BlobKey, size: number): AsyncGenerator<Uint8Array> {
  if (size === 0) return
  const body = await blobs.read(key, 0, size)
  yield* body instanceof Blob ? body.stream() : body
}

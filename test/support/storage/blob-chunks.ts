import { type BlobChunks, type BlobStore, eachChunk } from '../../../src/blobs/blob-store.ts'
import type { BlobKey } from '../../../src/domain/ids.ts'

/** All bytes that are still to come. */
export async function bytesOf(chunks: BlobChunks): Promise<Buffer<ArrayBuffer>> {
  const copies: Buffer[] = []
  for await (const chunk of eachChunk(chunks)) copies.push(Buffer.from(chunk))
  return Buffer.concat(copies)
}

/** Fails with the last piece, if that is an error. */
export function chunksOf(...pieces: readonly (Uint8Array | Error)[]): BlobChunks {
  const left = [...pieces]
  return {
    async next() {
      const piece = left.shift() ?? null
      if (piece instanceof Error) throw piece
      return piece
    },
    cancel() {
      left.length = 0
    },
    release() {},
  }
}

export async function keysOf(store: Pick<BlobStore, 'list'>): Promise<BlobKey[]> {
  return Array.fromAsync(store.list(), ({ key }) => key)
}

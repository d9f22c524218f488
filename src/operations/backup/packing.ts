/** One point's rows: a SQLite file, compressed. */
import { createReadStream, createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { chunksOf, isUnreadable, StoreFailure } from '../../blobs/blob-store.ts'
import { Refusal } from '../../domain/errors.ts'
import type { BlobKey } from '../../domain/ids.ts'
import type { BackupStore } from './backup-store.ts'
import type { RecoveryPoint } from './catalog.ts'

export async function packRows(
  path: string,
  store: BackupStore,
  key: BlobKey,
): Promise<{ readonly size: number; readonly sha256: string }> {
  const hash = new Bun.CryptoHasher('sha256')
  const writer = await store.create(key)
  let size = 0
  try {
    await pipeline(createReadStream(path), createZstdCompress(), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        hash.update(chunk)
        size += chunk.length
        await writer.write(chunk)
      }
    })
    await writer.complete()
  } catch (error) {
    await writer.abort()
    throw error
  }
  return { size, sha256: hash.digest('hex') }
}

/** The rows are damaged: the point cannot be restored. */
export class RowsLost extends Refusal {}

/** Throws RowsLost, and StoreFailure where the store is unavailable. */
export async function unpackRows(store: BackupStore, point: RecoveryPoint, path: string): Promise<void> {
  const hash = new Bun.CryptoHasher('sha256')
  async function* packed(): AsyncGenerator<Uint8Array> {
    const body = await store.read(point.key, 0, point.size, point.size)
    for await (const chunk of chunksOf(body)) {
      hash.update(chunk)
      yield chunk
    }
  }
  try {
    await pipeline(Readable.from(packed()), createZstdDecompress(), createWriteStream(path, { mode: 0o600 }))
    if (hash.digest('hex') !== point.sha256) throw new Error('they have other bytes')
  } catch (cause) {
    if (cause instanceof StoreFailure && !isUnreadable(cause)) throw cause
    const when = new Date(point.takenAt).toISOString()
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new RowsLost(
      'PRECONDITION_FAILED',
      `the rows of the point ${when} cannot be read: ${reason}. Name an earlier point with --at`,
      undefined,
      { cause },
    )
  }
}

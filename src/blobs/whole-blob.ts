import { fstatSync, writeSync } from 'node:fs'
import type { BlobKey } from '../domain/ids.ts'
import { assertStored, type BlobWriter } from './blob-store.ts'
import { syncDirectory, WritableFile } from './disk-files.ts'
import type { DiskLayout } from './disk-layout.ts'

/** Implements `BlobStore.put`. */
export async function writeWhole(writer: BlobWriter, key: BlobKey, bytes: Uint8Array): Promise<void> {
  try {
    await writer.write(bytes)
    assertStored(key, await writer.complete(), bytes.byteLength)
  } catch (error) {
    // The caller removes the blob in any case.
    await writer.abort().catch(() => {})
    throw error
  }
}

/** Under its final name, which saves a change of folders: one journal commit makes bytes and name durable. */
export async function writeWholeFile(
  layout: DiskLayout,
  key: BlobKey,
  bytes: Uint8Array,
  mode: number,
): Promise<void> {
  const file = await WritableFile.create(layout.finished(key), mode)
  try {
    for (let done = 0; done < bytes.byteLength; ) {
      done += writeSync(file.fd, bytes, done, bytes.byteLength - done, done)
    }
    assertStored(key, fstatSync(file.fd).size, bytes.byteLength)
    // The descriptor is in use until both have ended.
    const syncs = await Promise.allSettled([file.datasync(), syncDirectory(layout.shard(key))])
    for (const sync of syncs) if (sync.status === 'rejected') throw sync.reason
  } finally {
    file.close()
  }
}

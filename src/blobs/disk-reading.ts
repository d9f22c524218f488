import { constants, fstatSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { BlobKey } from '../domain/ids.ts'
import { assertSize, BlobDamaged, BlobMissing, type OpenBlob } from './blob-store.ts'
import { asDiskFailures, unlessMissing } from './disk-files.ts'

/** Implements `BlobStore.open` for the blob in the file `path`. An unknown size is not checked. */
export async function openBlobFile(key: BlobKey, path: string, size: number | undefined): Promise<OpenBlob> {
  const handle = await asDiskFailures(() =>
    open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(unlessMissing),
  )
  if (handle === null) throw new BlobMissing(key)
  try {
    // Synchronous, because the inode is in memory now: a call on another thread would take longer.
    const stats = fstatSync(handle.fd)
    if (!stats.isFile()) throw new BlobMissing(key)
    if (size !== undefined) assertSize(key, stats.size, size)
  } catch (error) {
    await handle.close()
    throw error
  }
  return new BlobFile(key, handle, size)
}

/** Implements `BlobStore.readInto` for the blob in the file `path`. */
export async function fillFrom(
  key: BlobKey,
  path: string,
  start: number,
  target: Uint8Array,
  size?: number,
): Promise<void> {
  const blob = await openBlobFile(key, path, size)
  try {
    await blob.readInto(start, target)
  } finally {
    await blob.close()
  }
}

class BlobFile implements OpenBlob {
  readonly #key: BlobKey
  readonly #handle: FileHandle
  readonly #size: number | undefined

  constructor(key: BlobKey, handle: FileHandle, size: number | undefined) {
    this.#key = key
    this.#handle = handle
    this.#size = size
  }

  readInto(start: number, target: Uint8Array): Promise<void> {
    return asDiskFailures(async () => {
      for (let filled = 0; filled < target.length; ) {
        const position = start + filled
        const { bytesRead } = await this.#handle.read(target, filled, target.length - filled, position)
        if (bytesRead === 0) throw this.#endsAt(position)
        filled += bytesRead
      }
    })
  }

  async close(): Promise<void> {
    await this.#handle.close().catch(() => {})
  }

  /** The file was truncated after it was opened, unless the caller asks for more than there ever was. */
  #endsAt(position: number): Error {
    if (this.#size !== undefined && position < this.#size) {
      return new BlobDamaged(this.#key, position, this.#size)
    }
    return new Error(`blob ${this.#key} ends at ${position}`)
  }
}

import { fstatSync, writeSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type { BlobKey } from '../../domain/ids.ts'
import { assertSize, BlobDamaged, type BlobWriter } from '../blob-store.ts'
import { diskStoreFailure, type WritableFile } from '../disk-files.ts'
import type { DiskLayout } from '../disk-layout.ts'

/** Leaves durability to `syncFileSystem`. */
export class DeferredSyncWriter implements BlobWriter {
  readonly #layout: DiskLayout
  readonly #key: BlobKey
  readonly #file: WritableFile
  #size = 0

  constructor(layout: DiskLayout, key: BlobKey, file: WritableFile) {
    this.#layout = layout
    this.#key = key
    this.#file = file
  }

  async write(chunk: Uint8Array): Promise<void> {
    try {
      for (let done = 0; done < chunk.byteLength; ) {
        done += writeSync(this.#file.fd, chunk, done, chunk.byteLength - done, this.#size + done)
      }
      this.#size += chunk.byteLength
    } catch (error) {
      throw diskStoreFailure(error)
    }
  }

  async complete(recorded?: Promise<void>): Promise<number> {
    await recorded
    try {
      assertSize(this.#key, fstatSync(this.#file.fd).size, this.#size)
      this.#file.close()
      await rename(this.#layout.temporary(this.#key), this.#layout.finished(this.#key))
      return this.#size
    } catch (error) {
      throw error instanceof BlobDamaged ? error : diskStoreFailure(error)
    }
  }

  async abort(): Promise<void> {
    this.#file.close()
    await rm(this.#layout.temporary(this.#key), { force: true })
    await rm(this.#layout.finished(this.#key), { force: true })
  }
}

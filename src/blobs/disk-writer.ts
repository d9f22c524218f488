import type { BlobKey } from '../domain/ids.ts'
import type { BlobWriter } from './blob-store.ts'
import { diskStoreFailure } from './disk-files.ts'
import { type DiskLayout, removeDurably, removeUnfinished } from './disk-layout.ts'
import type { GrowingFile } from './growing-file.ts'

export class DiskWriter implements BlobWriter {
  readonly #layout: DiskLayout
  readonly #key: BlobKey
  readonly #file: GrowingFile

  constructor(layout: DiskLayout, key: BlobKey, file: GrowingFile) {
    this.#layout = layout
    this.#key = key
    this.#file = file
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.#file.write(chunk)
  }

  async complete(recorded?: Promise<void>): Promise<number> {
    await this.#file.sync()
    await recorded
    try {
      return await this.#file.publish(this.#layout, this.#key)
    } catch (error) {
      // Also for a damaged blob: nothing of it is recorded, and the disk cannot be trusted.
      throw diskStoreFailure(error)
    }
  }

  async abort(): Promise<void> {
    await this.#file.close()
    await removeUnfinished(this.#layout, this.#key)
    await removeDurably(this.#layout.finished(this.#key))
  }
}

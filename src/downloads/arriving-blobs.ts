import type { BlobStore, OpenBlob } from '../blobs/blob-store.ts'
import type { BlobKey } from '../domain/ids.ts'
import type { ArrivedBytes } from './arrival-progress.ts'

/** The blobs that an arriving file is read from, one after another. One is open at a time. */
export class ArrivingBlobs {
  readonly #blobs: Pick<BlobStore, 'open' | 'openGrowing'>
  #present: { readonly key: BlobKey; readonly blob: OpenBlob } | null = null

  constructor(blobs: Pick<BlobStore, 'open' | 'openGrowing'>) {
    this.#blobs = blobs
  }

  /** The blob with these bytes. Throws as the store does. */
  async at({ key, whole }: Pick<ArrivedBytes, 'key' | 'whole'>): Promise<OpenBlob> {
    // A growing blob stays open when it is completed: it is the same one.
    if (this.#present?.key === key) return this.#present.blob
    await this.close()
    const blob = await (whole === null ? this.#blobs.openGrowing(key) : this.#blobs.open(key, whole))
    if (blob === null) throw new Error('the store opens no blobs')
    this.#present = { key, blob }
    return blob
  }

  /** Never throws. No read may be in progress. */
  async close(): Promise<void> {
    const blob = this.#present?.blob
    this.#present = null
    await blob?.close()
  }
}

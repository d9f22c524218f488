import type { BlobWriter } from './blob-store.ts'
import { asS3Failures, asS3WriteFailures } from './s3-failure.ts'
import { deleteObject } from './s3-objects.ts'
import { ObjectParts, type ObjectPartsOptions } from './s3-parts.ts'
import { abortMultipartUpload, abortMultipartUploads, type UnfinishedMultipartUpload } from './s3-uploads.ts'

export class S3Writer implements BlobWriter {
  readonly #options: ObjectPartsOptions
  readonly #parts: ObjectParts
  #mayExist = false

  constructor(options: ObjectPartsOptions) {
    this.#options = options
    this.#parts = new ObjectParts(options)
  }

  write(chunk: Uint8Array): Promise<void> {
    return asS3WriteFailures(() => this.#parts.write(chunk))
  }

  async complete(recorded?: Promise<void>): Promise<number> {
    await recorded
    this.#mayExist = true
    return asS3WriteFailures(async () => {
      await this.#parts.finish()
      return this.#parts.total
    })
  }

  abort(): Promise<void> {
    const { client, object } = this.#options
    return asS3Failures(async () => {
      await this.#parts.halt(new Error('the upload was aborted'))
      if (this.#parts.upload !== null) await this.#abortUpload(this.#parts.upload)
      if (this.#mayExist) await deleteObject(client, object)
    })
  }

  /** An upload without a known id may exist: the answer with the id may have been lost. */
  async #abortUpload(upload: Promise<UnfinishedMultipartUpload>): Promise<void> {
    const { client, object } = this.#options
    const begun = await upload.catch(() => null)
    if (begun === null) await abortMultipartUploads(client, object)
    else await abortMultipartUpload(client, begun)
  }
}

/** The published tus-js-client. */
import { Upload, type UploadOptions } from 'tus-js-client'

/** Pauses between retries; a dead node may be missing for half a minute. */
const RETRIES = [20, 50, 100, 200, 500, ...Array.from({ length: 90 }, () => 1000)]

/** Uploads everything. Resolves with the upload's address. */
export function sendByTusJs(content: Uint8Array<ArrayBuffer>, options: UploadOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(Buffer.from(content.buffer, content.byteOffset, content.length), {
      retryDelays: RETRIES,
      ...options,
      onSuccess: () => resolve(upload.url ?? ''),
      onError: reject,
    })
    upload.start()
  })
}

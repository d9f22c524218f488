/** tus-js-client, as it comes from the registry. */
import { Upload, type UploadOptions } from 'tus-js-client'

/** It gives up after so many failures in a row; a node that died is missed for half a minute. */
const RETRIES = [20, 50, 100, 200, 500, ...Array.from({ length: 90 }, () => 1000)]

/** Sends all of it. Resolves with the upload's address. */
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

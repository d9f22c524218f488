import type { BlobWriter } from './blob-store.ts'
import type { PartMemory } from './part-memory.ts'
import type { S3Client } from './s3-client.ts'
import { failing } from './s3-failure.ts'
import { deleteObject } from './s3-objects.ts'
import type { PlanPart } from './s3-part.ts'
import { partsOf } from './s3-parts.ts'
import { dropUpload, dropUploadsOf } from './s3-uploads.ts'

/** Writes one object in one go, or leaves nothing of it. */
export function s3Writer(
  client: S3Client,
  object: string,
  memory: PartMemory,
  planPart?: PlanPart,
): BlobWriter {
  const parts = partsOf(client, object, memory, planPart)
  let mayExist = false

  return {
    write: (chunk) => failing(() => parts.write(chunk)),

    complete() {
      mayExist = true
      return failing(async () => {
        await parts.finish()
        return parts.total
      })
    },

    abort() {
      return failing(async () => {
        await parts.halt(new Error('the upload was aborted'))
        if (parts.upload !== null) {
          const begun = await parts.upload.catch(() => null)
          // Without its id the upload may be there all the same: the answer that named it may have been lost.
          if (begun === null) await dropUploadsOf(client, object)
          else await dropUpload(client, begun)
        }
        if (mayExist) await deleteObject(client, object)
      })
    },
  }
}

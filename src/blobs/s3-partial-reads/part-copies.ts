import { makeBlobKey, type Random } from '../../domain/random.ts'
import type { S3Client } from '../s3-client.ts'
import { isTransient, S3Failure } from '../s3-failure.ts'
import { deleteObject, objectOf, objectSize, putObject, UPLOAD_RETRIES } from '../s3-objects.ts'
import { newPart, type PlanPart } from '../s3-part.ts'
import {
  abortMultipartUploads,
  completeMultipartUpload,
  createMultipartUpload,
  type UnfinishedMultipartUpload,
} from '../s3-uploads.ts'
import { text } from '../s3-xml.ts'

const COPY_WITHIN = 60_000
const PROBE_BYTES = 512

/** `end` is exclusive. */
export interface CopiedRange {
  readonly start: number
  readonly end: number
}

/** Ranges as long as parts, since some stores require equal sizes. A remainder too short for a part joins the last. */
export function rangesToCopy(size: number, planPart: PlanPart): CopiedRange[] {
  const ranges: CopiedRange[] = []
  for (let start = 0; start < size; ) {
    const { size: usual } = planPart(ranges.length + 1)
    const end = size - start < 2 * usual && size - start !== usual ? size : start + usual
    ranges.push({ start, end })
    start = end
  }
  return ranges
}

/** Returns the part's ETag. */
export async function copyPart(
  client: S3Client,
  upload: UnfinishedMultipartUpload,
  number: number,
  { start, end }: CopiedRange,
  signal: AbortSignal,
): Promise<string> {
  const answer = await client.send({
    method: 'PUT',
    object: upload.object,
    query: { partNumber: String(number), uploadId: upload.id },
    headers: {
      'x-amz-copy-source': `/${client.bucket}/${upload.object}`,
      'x-amz-copy-source-range': `bytes=${start}-${end - 1}`,
    },
    signal,
    retries: UPLOAD_RETRIES,
    answerWithin: Math.max(client.timeouts.answer, COPY_WITHIN),
  })
  const etag = text(answer.text, 'ETag')
  if (etag === null) throw new S3Failure(200, '', `the store copied part ${number} and gave no ETag`)
  return etag
}

/** Whether an object can begin with a copy of itself. Throws S3Failure when the store is away. */
export async function canCopyParts(client: S3Client, random: Random): Promise<boolean> {
  const object = objectOf(makeBlobKey(random))
  const part = newPart(PROBE_BYTES)
  part.take(random(PROBE_BYTES))
  const { signal } = new AbortController()
  try {
    await putObject(client, object, part.seal())
    const upload = { object, id: await createMultipartUpload(client, object, signal) }
    const etag = await copyPart(client, upload, 1, { start: 0, end: PROBE_BYTES }, signal)
    await completeMultipartUpload(client, upload, [etag], signal)
    return (await objectSize(client, object)) === PROBE_BYTES
  } catch (error) {
    if (error instanceof S3Failure && !isTransient(error)) return false
    throw error
  } finally {
    await Promise.all([abortMultipartUploads(client, object), deleteObject(client, object)])
  }
}

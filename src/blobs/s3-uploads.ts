import { wholeNumber } from '../domain/ids.ts'
import type { S3Client } from './s3-client.ts'
import { elements, encode, S3Failure, text } from './s3-failure.ts'
import { assertSame, UPLOAD_RETRIES } from './s3-objects.ts'
import type { SealedPart } from './s3-part.ts'

export interface UnfinishedMultipartUpload {
  readonly object: string
  readonly id: string
}

export interface ListedMultipartUpload extends UnfinishedMultipartUpload {
  /** Milliseconds since the epoch; null where the store does not tell. */
  readonly begunAt: number | null
}

export interface StoredPart {
  /** As the store sends it, with quotation marks. */
  readonly etag: string
  readonly size: number
}

/** Joining many parts takes time, and most stores answer only then. */
const JOIN_WITHIN = 60_000

export async function createMultipartUpload(
  client: S3Client,
  object: string,
  signal: AbortSignal,
): Promise<string> {
  const answer = await client.send({
    method: 'POST',
    object,
    query: { uploads: '' },
    signal,
    retries: UPLOAD_RETRIES,
  })
  const id = text(answer.text, 'UploadId')
  if (id === null) throw new S3Failure(200, '', `the store began an upload of ${object} and named no id`)
  return id
}

/** Returns the part's ETag, needed for joining. Parts are numbered from 1. */
export async function uploadPart(
  client: S3Client,
  upload: UnfinishedMultipartUpload,
  number: number,
  { bytes, md5 }: SealedPart,
  signal: AbortSignal,
): Promise<string> {
  const { headers } = await client.send({
    method: 'PUT',
    object: upload.object,
    query: { partNumber: String(number), uploadId: upload.id },
    headers: { 'Content-MD5': md5.toString('base64') },
    body: bytes,
    signal,
    retries: UPLOAD_RETRIES,
    answerWithin: client.timeouts.stall,
  })
  assertSame(headers, md5)
  const etag = headers.get('ETag')
  if (etag === null) throw new S3Failure(200, '', `the store took part ${number} and gave no ETag`)
  return etag
}

/** Up to the first gap. Throws S3Failure `NoSuchUpload`; Ceph says `NoSuchKey`. `page`: parts per request. */
export async function* storedParts(
  client: S3Client,
  { object, id }: UnfinishedMultipartUpload,
  { page = 1000, after = 0 }: { readonly page?: number; readonly after?: number } = {},
): AsyncIterable<StoredPart> {
  let last = after
  for (;;) {
    const query = { uploadId: id, 'max-parts': String(page), 'part-number-marker': String(last) }
    const answer = await client.send({ method: 'GET', object, query })
    const before = last
    for (const part of elements(answer.text, 'Part')) {
      const etag = text(part, 'ETag')
      const size = wholeNumber(text(part, 'Size'))
      if (wholeNumber(text(part, 'PartNumber')) !== last + 1 || etag === null || size === null) return
      last++
      yield { etag, size }
    }
    if (text(answer.text, 'IsTruncated') !== 'true' || last === before) return
  }
}

/** ETags in order. Throws S3Failure `NoSuchUpload`, also when an earlier try, whose answer was lost, has succeeded. */
export async function completeMultipartUpload(
  client: S3Client,
  upload: UnfinishedMultipartUpload,
  etags: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const parts = etags.map(
    (etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${encode(etag)}</ETag></Part>`,
  )
  await client.send({
    method: 'POST',
    object: upload.object,
    query: { uploadId: upload.id },
    headers: { 'Content-Type': 'application/xml' },
    body: new TextEncoder().encode(
      `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`,
    ),
    signal,
    retries: UPLOAD_RETRIES,
    answerWithin: Math.max(client.timeouts.answer, JOIN_WITHIN),
  })
}

/** Deletes its parts. Succeeds when there is no such upload. */
export async function abortMultipartUpload(
  client: S3Client,
  { object, id }: UnfinishedMultipartUpload,
): Promise<void> {
  try {
    await client.send({ method: 'DELETE', object, query: { uploadId: id } })
  } catch (error) {
    if (!isNoSuchUpload(error)) throw error
  }
}

export async function abortMultipartUploads(client: S3Client, object: string): Promise<void> {
  for await (const upload of unfinishedUploads(client, object)) {
    if (upload.object === object) await abortMultipartUpload(client, upload)
  }
}

export async function* unfinishedUploads(
  client: S3Client,
  prefix: string,
): AsyncIterable<ListedMultipartUpload> {
  let from: Record<string, string> = {}
  for (;;) {
    const answer = await client.send({ method: 'GET', query: { uploads: '', prefix, ...from } })
    for (const upload of elements(answer.text, 'Upload')) {
      const object = text(upload, 'Key')
      const id = text(upload, 'UploadId')
      const begunAt = Date.parse(text(upload, 'Initiated') ?? '')
      if (object !== null && id !== null)
        yield { object, id, begunAt: Number.isNaN(begunAt) ? null : begunAt }
    }
    const key = text(answer.text, 'NextKeyMarker')
    const id = text(answer.text, 'NextUploadIdMarker')
    if (text(answer.text, 'IsTruncated') !== 'true' || key === null) return
    from = { 'key-marker': key, ...(id === null ? {} : { 'upload-id-marker': id }) }
  }
}

export function isInvalidPart(error: unknown): boolean {
  return error instanceof S3Failure && error.code === 'InvalidPart'
}

export function isNoSuchUpload(error: unknown): boolean {
  return error instanceof S3Failure && error.code === 'NoSuchUpload'
}

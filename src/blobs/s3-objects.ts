import { type BlobKey, isBlobKey, type Sha256, wholeNumber } from '../domain/ids.ts'
import type { StoreRetryPolicy } from './retries.ts'
import type { S3Client } from './s3-client.ts'
import { elements, S3Failure, text } from './s3-failure.ts'
import type { SealedPart } from './s3-part.ts'

export const BLOBS = 'blobs/'

export function objectOf(key: BlobKey): string {
  return `${BLOBS}${key.slice(0, 2)}/${key}`
}

export function keyOf(object: string): BlobKey | null {
  const name = object.slice(object.lastIndexOf('/') + 1)
  return isBlobKey(name) && object === objectOf(name) ? name : null
}

/** Long enough for a store to restart. */
export const UPLOAD_RETRIES: StoreRetryPolicy = { tries: 7, giveUpAfter: 60_000 }

interface PutOptions {
  readonly signal?: AbortSignal
  readonly retries?: StoreRetryPolicy
  readonly answerWithin?: number
}

/** The store verifies the MD5. Throws S3Failure; a lasting `BadDigest` means corruption in transit. */
export async function putObject(
  client: S3Client,
  object: string,
  { bytes, md5 }: SealedPart,
  options: PutOptions = {},
): Promise<void> {
  const { headers } = await client.send({
    method: 'PUT',
    object,
    headers: { 'Content-MD5': md5.toString('base64') },
    body: bytes,
    ...options,
  })
  assertSame(headers, md5)
}

/** Signs a known SHA-256 instead of an MD5, which would take twice as long. The ETag tells nothing then. */
export async function putHashed(
  client: S3Client,
  object: string,
  bytes: Uint8Array<ArrayBuffer>,
  sha256: Sha256,
  options: PutOptions = {},
): Promise<void> {
  const headers = { 'X-Amz-Content-Sha256': sha256 }
  await client.send({ method: 'PUT', object, headers, body: bytes, ...options })
}

export async function objectSize(client: S3Client, object: string): Promise<number | null> {
  try {
    const { headers } = await client.send({ method: 'HEAD', object })
    return lengthOf(headers)
  } catch (error) {
    if (!(error instanceof S3Failure) || error.status !== 404) throw error
  }
  // A HEAD has no body that says what is missing: the object or the bucket.
  try {
    const { headers } = await client.send({ method: 'GET', object, headers: { Range: 'bytes=0-0' } })
    const [, total] = /\/(\d+)$/.exec(headers.get('Content-Range') ?? '') ?? []
    return wholeNumber(total) ?? lengthOf(headers)
  } catch (error) {
    if (isNoSuchKey(error)) return null
    throw error
  }
}

/** Milliseconds since the epoch. */
export async function objectTime(client: S3Client, object: string): Promise<number | null> {
  if ((await objectSize(client, object)) === null) return null
  try {
    const { headers } = await client.send({ method: 'HEAD', object })
    const time = Date.parse(headers.get('Last-Modified') ?? '')
    return Number.isNaN(time) ? null : time
  } catch (error) {
    if (error instanceof S3Failure && error.status === 404) return null
    throw error
  }
}

export async function deleteObject(client: S3Client, object: string): Promise<void> {
  try {
    await client.send({ method: 'DELETE', object })
  } catch (error) {
    if (!isNoSuchKey(error)) throw error
  }
}

export async function* objectsUnder(
  client: S3Client,
  prefix: string,
): AsyncIterable<{ readonly object: string; readonly size: number }> {
  let from: Record<string, string> = {}
  for (;;) {
    const answer = await client.send({ method: 'GET', query: { 'list-type': '2', prefix, ...from } })
    for (const content of elements(answer.text, 'Contents')) {
      const object = text(content, 'Key')
      if (object !== null) yield { object, size: Number(text(content, 'Size') ?? Number.NaN) }
    }
    const next = text(answer.text, 'NextContinuationToken')
    if (text(answer.text, 'IsTruncated') !== 'true' || next === null) return
    from = { 'continuation-token': next }
  }
}

export function isNoSuchKey(error: unknown): boolean {
  return error instanceof S3Failure && error.code === 'NoSuchKey'
}

/** Throws S3Failure unless the ETag is the MD5. Stores that encrypt have other ETags. */
export function assertSame(headers: Headers, md5: Buffer): void {
  const etag = (headers.get('ETag') ?? '').replaceAll('"', '').toLowerCase()
  if (/^[0-9a-f]{32}$/.test(etag) && etag !== md5.toString('hex') && !isEncrypted(headers)) {
    throw new S3Failure(null, 'BadDigest', 'the store took other bytes than it was sent')
  }
}

function isEncrypted(headers: Headers): boolean {
  const scheme = headers.get('x-amz-server-side-encryption')
  return (
    (scheme !== null && scheme !== 'AES256') || headers.has('x-amz-server-side-encryption-customer-algorithm')
  )
}

function lengthOf(headers: Headers): number {
  const length = wholeNumber(headers.get('Content-Length'))
  if (length === null) throw new S3Failure(200, '', 'the store does not tell the length of an object')
  return length
}

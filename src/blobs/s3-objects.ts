import { type BlobKey, isBlobKey, type Sha256, wholeNumber } from '../domain/ids.ts'
import type { StoreRetryPolicy } from './retries.ts'
import type { S3Client, S3Settings } from './s3-client.ts'
import { elements, encode, S3Failure, s3StoreFailure, text } from './s3-failure.ts'

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

export interface SealedPart {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly md5: Buffer
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
): AsyncIterable<{ readonly object: string; readonly size: number; readonly storedAt: number | null }> {
  let from: Record<string, string> = {}
  for (;;) {
    const answer = await client.send({ method: 'GET', query: { 'list-type': '2', prefix, ...from } })
    for (const content of elements(answer.text, 'Contents')) {
      const object = text(content, 'Key')
      const storedAt = Date.parse(text(content, 'LastModified') ?? '')
      const size = Number(text(content, 'Size') ?? Number.NaN)
      if (object !== null) yield { object, size, storedAt: Number.isNaN(storedAt) ? null : storedAt }
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

/** Tails: objects with the last bytes of an unfinished blob, short of a part. Each is written once. */
/** A readable growing blob may have a thousand tails. */
const REMOVED_AT_ONCE = 8

export const TAILS = 'tails/'

export function tailOf(key: BlobKey, name: string): string {
  return `${tailsOf(key)}${name}`
}

export function keyOfTail(object: string): BlobKey | null {
  const [, , key = ''] = object.split('/')
  return isBlobKey(key) && object.startsWith(tailsOf(key)) ? key : null
}

/** Also removes the copies of parts. */
export async function dropTails(client: S3Client, key: BlobKey): Promise<void> {
  const found = await Array.fromAsync(objectsUnder(client, tailsOf(key)))
  const left = found.values()
  const drop = async () => {
    for (const { object } of left) await deleteObject(client, object)
  }
  await Promise.all(Array.from({ length: REMOVED_AT_ONCE }, drop))
}

/** Removed as tails are. The ETag tells the copy from one of a dead session's part. */
export function partCopyOf(key: BlobKey, number: number, etag: string): string {
  return tailOf(key, `part-${number}-${etag.toLowerCase().replaceAll(/[^0-9a-z-]/g, '')}`)
}

function tailsOf(key: BlobKey): string {
  return `${TAILS}${key.slice(0, 2)}/${key}/`
}

export class StoreUnusable extends Error {
  override readonly name = 'StoreUnusable'
}

/** Creates a missing bucket. Throws StoreUnusable. */
export async function assertBucket(client: S3Client, settings: S3Settings): Promise<void> {
  const { bucket, endpoint, region } = settings
  const told = (error: unknown, problem: string): Error => {
    const cause = s3StoreFailure(error)
    const detail = error instanceof Error ? error.message : String(error)
    return new StoreUnusable(`${problem} (${detail})`, { cause })
  }
  try {
    if (await bucketExists(client)) return
  } catch (error) {
    throw told(error, problemOf(error, settings))
  }
  try {
    await makeBucket(client, region)
  } catch (error) {
    // Another starting node may have created it.
    if (await bucketExists(client).catch(() => false)) return
    throw told(
      error,
      `HOLDFAST_S3_BUCKET: the bucket "${bucket}" is missing at ${endpoint} and cannot be made with this key. Make it, or let the key do it`,
    )
  }
}

function problemOf(error: unknown, { bucket, endpoint, pathStyle }: S3Settings): string {
  const { host, protocol } = new URL(endpoint)
  const style = pathStyle
    ? ''
    : ` Addresses begin with the bucket's name (${protocol}//${bucket}.${host}): a store that knows none of these needs HOLDFAST_S3_PATH_STYLE=true.`
  if (!(error instanceof S3Failure)) return `the S3 store at ${endpoint} cannot be used`
  if (error.status === null) {
    return `HOLDFAST_S3_ENDPOINT: the S3 store at ${endpoint} cannot be reached. See that it runs and that the address is right.${style}`
  }
  if (error.code === 'RequestTimeTooSkewed') {
    return `the clocks of this machine and of the S3 store at ${endpoint} differ too much. Set them right (timedatectl set-ntp true)`
  }
  if (isRefusal(error)) {
    return `the S3 store at ${endpoint} does not let this key use the bucket "${bucket}". Check HOLDFAST_S3_ACCESS_KEY_ID, HOLDFAST_S3_SECRET_ACCESS_KEY, HOLDFAST_S3_REGION and the key's rights.${style}`
  }
  return `the S3 store at ${endpoint} cannot be used. Check HOLDFAST_S3_ENDPOINT and HOLDFAST_S3_BUCKET.${style}`
}

async function bucketExists(client: S3Client): Promise<boolean> {
  try {
    // The key needs the right to list anyway, and unlike HEAD a list has error codes.
    await client.send({ method: 'GET', query: { 'list-type': '2', 'max-keys': '1' } })
    return true
  } catch (error) {
    if (error instanceof S3Failure && error.code === 'NoSuchBucket') return false
    throw error
  }
}

async function makeBucket(client: S3Client, region: string): Promise<void> {
  try {
    await client.send({ method: 'PUT' })
  } catch (error) {
    // AWS requires the region's name outside its first region; other stores do not know the element.
    if (!(error instanceof S3Failure) || error.code !== 'IllegalLocationConstraintException') throw error
    const place = `<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LocationConstraint>${encode(region)}</LocationConstraint></CreateBucketConfiguration>`
    await client.send({ method: 'PUT', body: new TextEncoder().encode(place) })
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof S3Failure && (error.status === 401 || error.status === 403 || error.status === 301)
}

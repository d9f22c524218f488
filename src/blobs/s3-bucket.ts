import type { S3Client } from './s3-client.ts'
import { encode, S3Failure, s3StoreFailure } from './s3-failure.ts'
import type { S3Settings } from './s3-requests.ts'

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
    if (await exists(client)) return
  } catch (error) {
    throw told(error, problemOf(error, settings))
  }
  try {
    await make(client, region)
  } catch (error) {
    // Another starting node may have created it.
    if (await exists(client).catch(() => false)) return
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

async function exists(client: S3Client): Promise<boolean> {
  try {
    // The key needs the right to list anyway, and unlike HEAD a list has error codes.
    await client.send({ method: 'GET', query: { 'list-type': '2', 'max-keys': '1' } })
    return true
  } catch (error) {
    if (error instanceof S3Failure && error.code === 'NoSuchBucket') return false
    throw error
  }
}

async function make(client: S3Client, region: string): Promise<void> {
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

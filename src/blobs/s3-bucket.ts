import type { S3Client, S3Settings } from './s3-client.ts'
import { asStoreFailure, S3Failure } from './s3-failure.ts'
import { encode } from './s3-xml.ts'

/** Makes the bucket when it is missing. Throws Error with what a person can do about it. */
export async function assertBucket(
  client: S3Client,
  { bucket, endpoint, region }: S3Settings,
): Promise<void> {
  const told = (error: unknown, problem: string): Error => {
    const cause = asStoreFailure(error)
    const detail = error instanceof Error ? error.message : String(error)
    return new Error(`${problem} (${detail})`, { cause })
  }
  try {
    if (await exists(client)) return
  } catch (error) {
    throw told(
      error,
      isRefusal(error)
        ? `the S3 store at ${endpoint} does not let this key use the bucket "${bucket}"; check the key's id, its secret, the region and the key's rights`
        : `the S3 store at ${endpoint} cannot be used`,
    )
  }
  try {
    await make(client, region)
  } catch (error) {
    // Another node that starts at the same time may have been quicker.
    if (await exists(client).catch(() => false)) return
    throw told(
      error,
      `the bucket "${bucket}" is missing at ${endpoint} and cannot be made with this key; make it, or let the key do it`,
    )
  }
}

async function exists(client: S3Client): Promise<boolean> {
  try {
    // Listing is what the key needs anyway, and unlike HEAD it says what is wrong.
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
    // AWS wants to hear the region in so many words everywhere but in its first one; others do not know that word.
    if (!(error instanceof S3Failure) || error.code !== 'IllegalLocationConstraintException') throw error
    const place = `<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LocationConstraint>${encode(region)}</LocationConstraint></CreateBucketConfiguration>`
    await client.send({ method: 'PUT', body: new TextEncoder().encode(place) })
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof S3Failure && (error.status === 401 || error.status === 403 || error.status === 301)
}

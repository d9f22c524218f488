/** What a sitting leaves behind of a blob that is no part yet: objects beside the blobs, each written once. */
import type { BlobKey } from '../domain/ids.ts'
import { isBlobKey } from './keys.ts'
import type { S3Client } from './s3-client.ts'
import { deleteObject, objectsUnder } from './s3-objects.ts'

/** Where they lie in the bucket. */
export const TAILS = 'tails/'

export function tailOf(key: BlobKey, name: string): string {
  return `${tailsOf(key)}${name}`
}

/** Null for the name of an object that is no tail. */
export function keyOfTail(object: string): BlobKey | null {
  const [, , key = ''] = object.split('/')
  return isBlobKey(key) && object.startsWith(tailsOf(key)) ? key : null
}

/** Removes every tail of the blob. */
export async function dropTails(client: S3Client, key: BlobKey): Promise<void> {
  for await (const { object } of objectsUnder(client, tailsOf(key))) await deleteObject(client, object)
}

function tailsOf(key: BlobKey): string {
  return `${TAILS}${key.slice(0, 2)}/${key}/`
}

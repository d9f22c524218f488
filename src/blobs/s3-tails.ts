/** Tails: objects with the last bytes of an unfinished blob, which do not fill a part. Each is written once. */
import { type BlobKey, isBlobKey } from '../domain/ids.ts'
import type { S3Client } from './s3-client.ts'
import { deleteObject, objectsUnder } from './s3-objects.ts'

/** A blob that can be read while it grows may have a thousand. */
const REMOVED_AT_ONCE = 8

/** Prefix of tails in the bucket. */
export const TAILS = 'tails/'

export function tailOf(key: BlobKey, name: string): string {
  return `${tailsOf(key)}${name}`
}

/** Null for an object that is not a tail. */
export function keyOfTail(object: string): BlobKey | null {
  const [, , key = ''] = object.split('/')
  return isBlobKey(key) && object.startsWith(tailsOf(key)) ? key : null
}

/** Removes every tail of the blob, and every copy of a part. */
export async function dropTails(client: S3Client, key: BlobKey): Promise<void> {
  const found = await Array.fromAsync(objectsUnder(client, tailsOf(key)))
  const left = found.values()
  const drop = async () => {
    for (const { object } of left) await deleteObject(client, object)
  }
  await Promise.all(Array.from({ length: REMOVED_AT_ONCE }, drop))
}

function tailsOf(key: BlobKey): string {
  return `${TAILS}${key.slice(0, 2)}/${key}/`
}

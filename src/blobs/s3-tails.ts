/** Tails: objects with the last bytes of an unfinished blob, short of a part. Each is written once. */
import { type BlobKey, isBlobKey } from '../domain/ids.ts'
import type { S3Client } from './s3-client.ts'
import { deleteObject, objectsUnder } from './s3-objects.ts'

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

function tailsOf(key: BlobKey): string {
  return `${TAILS}${key.slice(0, 2)}/${key}/`
}

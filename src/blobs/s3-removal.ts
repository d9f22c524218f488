import type { BlobKey } from '../domain/ids.ts'
import { removeOneByOne } from './adapters.ts'
import type { S3Client } from './s3-client.ts'
import { elements, encode, isTransient, S3Failure, s3StoreFailure, text } from './s3-failure.ts'
import {
  BLOBS,
  deleteObject,
  dropTails,
  keyOf,
  keyOfTail,
  objectOf,
  objectsUnder,
  TAILS,
} from './s3-objects.ts'
import { abortMultipartUpload, abortMultipartUploads, unfinishedUploads } from './s3-uploads.ts'

/** Single removals take three requests each; batches share two for the lists. */
const FEW = 3

/** Most unfinished uploads or tails listed for all blobs together. */
const MOST_LISTED = 5000

/** S3's limit. */
const MOST_DELETED = 1000

/** As `BlobStore.remove`. Throws S3Failure. */
export async function removeBlob(client: S3Client, key: BlobKey): Promise<void> {
  await Promise.all([
    abortMultipartUploads(client, objectOf(key)),
    dropTails(client, key),
    deleteObject(client, objectOf(key)),
  ])
}

export async function removeBlobs(
  client: S3Client,
  keys: readonly BlobKey[],
  failed: (error: unknown) => void,
): Promise<BlobKey[]> {
  const oneByOne = () =>
    removeOneByOne(
      keys,
      (key) => removeBlob(client, key),
      (error) => failed(s3StoreFailure(error)),
    )
  if (keys.length <= FEW) return oneByOne()
  try {
    return (await removeTogether(client, keys, failed)) ?? (await oneByOne())
  } catch (error) {
    // Some stores cannot delete in bulk. One that is away would fail for each blob too, after a wait.
    if (error instanceof S3Failure && !isTransient(error)) return oneByOne()
    failed(s3StoreFailure(error))
    return []
  }
}

/** As `BlobStore.endForgotten`. Throws S3Failure. */
export async function abortForgotten(
  client: S3Client,
  before: number,
  isUnderWay: (key: BlobKey) => Promise<boolean>,
): Promise<void> {
  for await (const upload of unfinishedUploads(client, BLOBS)) {
    const key = keyOf(upload.object)
    if (key === null || upload.begunAt === null || upload.begunAt >= before) continue
    if (!(await isUnderWay(key))) await abortMultipartUpload(client, upload)
  }
}

async function removeTogether(
  client: S3Client,
  keys: readonly BlobKey[],
  failed: (error: unknown) => void,
): Promise<BlobKey[] | null> {
  const wanted = new Set(keys)
  const [uploads, tails] = await Promise.all([
    listed(unfinishedUploads(client, BLOBS)),
    listed(objectsUnder(client, TAILS)),
  ])
  if (uploads === null || tails === null) return null
  for (const upload of uploads) {
    if (isAmong(wanted, keyOf(upload.object))) await abortMultipartUpload(client, upload)
  }
  const parts = tails.map(({ object }) => object).filter((object) => isAmong(wanted, keyOfTail(object)))
  const refusals = await deleteObjects(client, [...parts, ...keys.map(objectOf)])
  const stuck = new Set([...refusals.keys()].map((object) => keyOf(object) ?? keyOfTail(object)))
  for (const refusal of refusals.values()) failed(s3StoreFailure(refusal))
  return keys.filter((key) => !stuck.has(key))
}

function isAmong(keys: ReadonlySet<BlobKey>, key: BlobKey | null): boolean {
  return key !== null && keys.has(key)
}

async function listed<T>(all: AsyncIterable<T>): Promise<T[] | null> {
  const found: T[] = []
  for await (const one of all) {
    if (found.push(one) > MOST_LISTED) return null
  }
  return found
}

/** Returns failures by object name. Missing objects count as deleted. */
export async function deleteObjects(
  client: S3Client,
  objects: readonly string[],
): Promise<Map<string, S3Failure>> {
  const refusals = new Map<string, S3Failure>()
  for (let at = 0; at < objects.length; at += MOST_DELETED) {
    const names = objects.slice(at, at + MOST_DELETED)
    const list = names.map((name) => `<Object><Key>${encode(name)}</Key></Object>`)
    const body = new TextEncoder().encode(
      `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${list.join('')}</Delete>`,
    )
    const md5 = new Bun.CryptoHasher('md5').update(body).digest('base64')
    const headers = { 'Content-Type': 'application/xml', 'Content-MD5': md5 }
    const answer = await client.send({ method: 'POST', query: { delete: '' }, headers, body })
    for (const error of elements(answer.text, 'Error')) {
      const code = text(error, 'Code') ?? ''
      const name = text(error, 'Key') ?? ''
      if (code === 'NoSuchKey') continue
      if (!names.includes(name)) throw new S3Failure(200, code, `the store did not delete ${name}: ${code}`)
      refusals.set(name, new S3Failure(200, code, `${name} was not deleted: ${code}`))
    }
  }
  return refusals
}

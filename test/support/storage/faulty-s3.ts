/** An S3 store behind a fault proxy, with helpers for it. */

import { type BlobChunks, type BlobStore, StoreFailure } from '../../../src/blobs/blob-store.ts'
import { openS3Blobs, type S3Options } from '../../../src/blobs/s3.ts'
import type { S3Settings } from '../../../src/blobs/s3-client.ts'
import type { BlobKey } from '../../../src/domain/ids.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { patient } from '../patience.ts'
import { bytesOf } from './blob-chunks.ts'
import { newBucket } from './ceph.ts'
import type { Fault } from './fault-connection.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'

/** No pauses between retries, and short timeouts. */
export const hasty: S3Options = {
  pacing: { monotonic: () => performance.now(), wait: async () => {}, random: systemRandom },
  timeouts: { answer: patient(1), stall: patient(1) },
}

/** `hasty` with a clock that advances by half a minute at each reading. */
export function impatient(): S3Options {
  let now = 0
  return {
    ...hasty,
    pacing: { monotonic: () => (now += 30_000), wait: async () => {}, random: systemRandom },
  }
}

export interface Fixture {
  readonly proxy: FaultProxy
  /** The store through the proxy. */
  readonly store: BlobStore
  /** The store without the proxy. */
  readonly direct: BlobStore
  readonly settings: S3Settings
  [Symbol.asyncDispose](): Promise<void>
}

export async function startFixture(options: S3Options = hasty): Promise<Fixture> {
  const settings = await newBucket()
  const direct = await openS3Blobs(settings, systemRandom)
  const proxy = await startFaultProxy(settings.endpoint)
  const store = await openS3Blobs({ ...settings, endpoint: proxy.url }, systemRandom, options)
  return { proxy, store, direct, settings, [Symbol.asyncDispose]: () => proxy.stop() }
}

export async function put(store: BlobStore, key: BlobKey, content: Uint8Array): Promise<void> {
  const writer = await store.create(key)
  await writer.write(content)
  await writer.complete()
}

export async function get(store: BlobStore, key: BlobKey, start: number, end: number): Promise<Buffer> {
  return bytesOf(await store.read(key, start, end))
}

/** The bytes of all chunks that are still to come. */
export async function joined(chunks: BlobChunks): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for (let part = await chunks.next(); part !== null; part = await chunks.next()) parts.push(part)
  return Buffer.concat(parts)
}

export async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => 'it worked',
    (failure: unknown) => failure,
  )
  return error instanceof StoreFailure ? error.reason : String(error)
}

export const passing: [string, Fault][] = [
  ['a cut before it', { kind: 'cut' }],
  ['a cut in the middle of it', { kind: 'cut-request', after: 100_000 }],
  ['an answer that was lost', { kind: 'lose-answer' }],
  ['a 500', { kind: 'answer', status: 500, code: 'InternalError' }],
  ['a 503', { kind: 'answer', status: 503, code: 'SlowDown' }],
  ['a 503 from something in between', { kind: 'answer', status: 503 }],
  ['a 429', { kind: 'answer', status: 429 }],
  ['a stall', { kind: 'stall' }],
]

/** What an S3 store refuses for good is asked for once, at every request, and told in the store's own words. */
// Only in test:all: each answer at each request; s3-faults.contract.test.ts has those that pass.
import { describe, expect, test } from 'bun:test'
import {
  BlobMissing,
  BlobRefused,
  type BlobStore,
  readInto,
  StoreFailure,
} from '../../../src/blobs/blob-store.ts'
import { systemPacing } from '../../../src/blobs/retries.ts'
import { openS3Blobs, tryJoin } from '../../../src/blobs/s3.ts'
import { s3Client, usualTimeouts } from '../../../src/blobs/s3-client.ts'
import { objectOf } from '../../../src/blobs/s3-objects.ts'
import { parseProgress, resumeOnS3 } from '../../../src/blobs/s3-resumable.ts'
import { MOST_PARTS, partMemory, planFor, planOf, storedParts } from '../../../src/blobs/s3-uploads.ts'
import type { BlobKey, Sha256 } from '../../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { chance } from '../../support/chance.ts'
import { newBucket, whyNoCeph } from '../../support/storage/ceph.ts'
import { type ProxiedRequest, startFaultProxy } from '../../support/storage/fault-proxy.ts'
import { put, startFixture } from '../../support/storage/faulty-s3.ts'

const MIB = 1024 * 1024
const LARGE = 9 * MIB
const random = chance(79)
/** A bucket that is there. */
async function bucket() {
  const settings = await newBucket()
  await openS3Blobs(settings, systemRandom)
  return settings
}

const newKey = () => makeBlobKey(systemRandom)

/** Answers that no repetition changes, and what each of them means for the store. */
const FINAL = [
  [400, 'InvalidPart', 'broken'],
  [400, 'InvalidPartOrder', 'broken'],
  [400, 'EntityTooSmall', 'broken'],
  [400, 'InvalidRequest', 'broken'],
  [400, 'InvalidArgument', 'broken'],
  [400, 'MalformedXML', 'broken'],
  [405, 'MethodNotAllowed', 'broken'],
  [411, 'MissingContentLength', 'broken'],
  [501, 'NotImplemented', 'broken'],
  [400, 'EntityTooLarge', 'full'],
  [403, 'QuotaExceeded', 'full'],
  [403, 'AccessDenied', 'refused'],
  [403, 'SignatureDoesNotMatch', 'refused'],
  [403, 'RequestTimeTooSkewed', 'refused'],
  [404, 'NoSuchBucket', 'refused'],
  [301, 'PermanentRedirect', 'refused'],
] as const

const is = (method: string, part: string) => (request: ProxiedRequest) =>
  request.method === method && request.path.includes(part)

async function session(store: BlobStore, key: BlobKey) {
  const writer = await store.resume(key, null)
  await writer.write(random.bytes(LARGE))
  return { writer, kept: await writer.keep() }
}

interface Case {
  readonly match: (request: ProxiedRequest) => boolean
  /** Whether it writes a blob. */
  readonly writes: boolean
  /** Prepares without a fault; returns what fails. */
  readonly work: (store: BlobStore, key: BlobKey) => Promise<() => Promise<unknown>>
}

const CASES: Readonly<Record<string, Case>> = {
  'a small blob': {
    match: is('PUT', '/blobs/'),
    writes: true,
    work: async (store, key) => {
      const bytes = random.bytes(1000)
      return () => store.put(key, bytes, Bun.SHA256.hash(bytes, 'hex') as Sha256)
    },
  },
  'the beginning of a large one': {
    match: is('POST', '?uploads'),
    writes: true,
    work: async (store, key) => () => put(store, key, random.bytes(LARGE)),
  },
  'a part': {
    match: is('PUT', 'partNumber=1&'),
    writes: true,
    work: async (store, key) => () => put(store, key, random.bytes(LARGE)),
  },
  'the join of a blob in one session': {
    match: is('POST', '?uploadId='),
    writes: true,
    work: async (store, key) => () => put(store, key, random.bytes(LARGE)),
  },
  'the tail of a resumable one': {
    match: is('PUT', '/tails/'),
    writes: true,
    work: async (store, key) => () => session(store, key),
  },
  'the join of a resumable one': {
    match: is('POST', '?uploadId='),
    writes: true,
    work: async (store, key) => {
      const { writer } = await session(store, key)
      return () => writer.complete()
    },
  },
  'the list of its parts': {
    match: is('GET', 'max-parts='),
    writes: false,
    work: async (store, key) => {
      const { writer, kept } = await session(store, key)
      await writer.close()
      return () => store.resume(key, kept)
    },
  },
  'reading a blob': {
    match: is('GET', '/blobs/'),
    writes: false,
    work: async (store, key) => {
      await put(store, key, random.bytes(1000))
      return () => readInto(store, key, 0, new Uint8Array(1000), 1000)
    },
  },
  'removing one': {
    match: is('DELETE', '/blobs/'),
    writes: false,
    work: async (store, key) => {
      await put(store, key, random.bytes(1000))
      return () => store.remove(key)
    },
  },
  'the list of blobs': {
    match: is('GET', 'list-type=2'),
    writes: false,
    work: async (store) => () => Array.fromAsync(store.list()),
  },
  'the mark': {
    match: is('GET', '/mark'),
    writes: false,
    work: async (store) => () => store.readMark(),
  },
}

describe.skipIf(whyNoCeph() !== null)('a repeat without memory: what a store refuses for good', () => {
  for (const [name, { match, writes, work }] of Object.entries(CASES)) {
    test(`is asked for once, and told in its words: ${name}`, async () => {
      await using fixture = await startFixture()
      const { proxy, store, direct } = fixture
      for (const [status, code, reason] of FINAL) {
        const key = newKey()
        const failing = await work(store, key)
        const before = proxy.requests.length
        proxy.inject({ kind: 'answer', status, code }, { match, times: Infinity })
        const error: unknown = await failing().then(
          () => null,
          (thrown: unknown) => thrown,
        )
        proxy.heal()
        const said = `${name}, ${code}`
        expect([said, proxy.requests.slice(before).filter(match).length]).toEqual([said, 1])
        expect([said, kindOf(error)]).toEqual([said, expectedKind(name, writes, code, reason)])
        expect(wordsOf(error)).toContain(code)
        await direct.remove(key)
      }
    }, 60_000)
  }

  test('is what a doctor finds of joins, and nothing of it stays', async () => {
    const settings = await bucket()
    const proxy = await startFaultProxy(settings.endpoint)
    const through = { ...settings, endpoint: proxy.url }
    await tryJoin(through, systemRandom)
    proxy.inject({ kind: 'answer', status: 400, code: 'InvalidPart' }, { match: is('POST', '?uploadId=') })
    await expect(tryJoin(through, systemRandom)).rejects.toMatchObject({ code: 'InvalidPart' })
    await proxy.stop()
  })

  test('parts of different sizes: a session goes on with parts as long as those that are there', async () => {
    const client = s3Client(await bucket(), systemPacing(systemRandom), usualTimeouts)
    const key = newKey()
    const parts = { client, memory: partMemory(0), random: systemRandom }
    const first = await resumeOnS3({ ...parts, planPart: planOf(5 * MIB) }, key, null)
    await first.write(random.bytes(12 * MIB))
    const kept = await first.keep()
    await first.close()
    const next = await resumeOnS3({ ...parts, planPart: planFor(0) }, key, kept)
    await next.write(random.bytes(10 * MIB))
    const { progress } = await next.keep()
    const upload = { object: objectOf(key), id: parseProgress(progress).upload ?? '' }
    const sizes = (await Array.fromAsync(storedParts(client, upload))).map(({ size }) => size)
    expect(sizes).toEqual(Array.from({ length: 4 }, () => 5 * MIB))
    expect(await next.complete()).toBe(22 * MIB)
  })
})

test('a limit just under a real value: the parts of a blob have one size, whatever its length, and suffice for it', () => {
  const GIB = 1024 ** 3
  for (const bytes of [
    0,
    1,
    10 * GIB,
    10 * GIB + 1,
    77 * GIB,
    78 * GIB,
    100 * GIB,
    1024 * GIB,
    5 * 1024 * GIB,
  ]) {
    const plan = planFor(bytes)
    const { size, held } = plan(1)
    for (const number of [2, 1280, 1281, 2601, MOST_PARTS]) expect(plan(number)).toEqual({ size, held })
    expect(size * MOST_PARTS).toBeGreaterThan(bytes)
    expect(size).toBeGreaterThanOrEqual(5 * MIB)
    expect(size).toBeLessThanOrEqual(5 * GIB)
  }
  expect(planFor(10 * GIB)(1)).toEqual({ size: 8 * MIB, held: 4 })
})

function kindOf(error: unknown): string {
  if (error instanceof StoreFailure) return error.reason
  return error instanceof Error ? error.name : String(error)
}

/** What writes a blob and is refused for good is over; all else is a state of the store. */
function expectedKind(name: string, writes: boolean, code: string, reason: string): string {
  // It may be that a killed session has written over a part.
  if (name === 'the join of a resumable one' && code === 'InvalidPart') return BlobMissing.name
  return writes && reason === 'broken' ? BlobRefused.name : reason
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return `${error.message} ${wordsOf(error.cause)}`
}

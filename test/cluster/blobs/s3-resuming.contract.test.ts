// Only in test:all: retries, further and further apart; resumable-blobs has S3 too.
import { describe, expect, test } from 'bun:test'
import { BlobMissing, type KeptBlob } from '../../../src/blobs/blob-store.ts'
import { systemPacing } from '../../../src/blobs/retries.ts'
import { openS3Blobs } from '../../../src/blobs/s3.ts'
import { type S3Client, type S3Settings, s3Client, usualTimeouts } from '../../../src/blobs/s3-client.ts'
import { deleteObject, objectOf, objectsUnder } from '../../../src/blobs/s3-objects.ts'
import { parseProgress, resumeOnS3 } from '../../../src/blobs/s3-resumable.ts'
import {
  newPart,
  partMemory,
  storedParts,
  unfinishedUploads,
  uploadPart,
} from '../../../src/blobs/s3-uploads.ts'
import type { BlobKey } from '../../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { chance } from '../../support/chance.ts'
import { newBucket, whyNoCeph } from '../../support/storage/ceph.ts'
import type { Fault } from '../../support/storage/fault-connection.ts'
import type { ProxiedRequest } from '../../support/storage/fault-proxy.ts'
import { get, passing, reasonOf, startFixture } from '../../support/storage/faulty-s3.ts'

const MIB = 1024 * 1024
const random = chance(26)
const newKey = () => makeBlobKey(systemRandom)
/** As small as S3 takes them. */
const smallParts = () => ({ size: 5 * MIB, held: 4 })

const isTail = ({ method, path }: ProxiedRequest) => method === 'PUT' && path.includes('/tails/')
const isPart = ({ method, path }: ProxiedRequest) => method === 'PUT' && path.includes('partNumber=')
const isParts = ({ method, path }: ProxiedRequest) => method === 'GET' && path.includes('max-parts=')
const isTailRead = ({ method, path }: ProxiedRequest) => method === 'GET' && path.includes('/tails/')
const isJoin = ({ method, path }: ProxiedRequest) => method === 'POST' && path.includes('?uploadId=')

function clientOf(settings: S3Settings): S3Client {
  return s3Client(settings, systemPacing(systemRandom), usualTimeouts)
}

async function newClient(): Promise<S3Client> {
  const settings = await newBucket()
  await openS3Blobs(settings, systemRandom)
  return clientOf(settings)
}

/** Every object in the bucket and every multipart upload. */
async function inBucket(settings: S3Settings): Promise<string[]> {
  const client = clientOf(settings)
  const found = [
    ...(await Array.fromAsync(objectsUnder(client, ''))),
    ...(await Array.fromAsync(unfinishedUploads(client, ''))),
  ]
  return found.map(({ object }) => object)
}

/** What a dead node had on its way arrives: another content of that part. */
async function lateArrival(settings: S3Settings, key: BlobKey, { progress }: KeptBlob, number: number) {
  const part = newPart(8 * MIB)
  part.take(random.bytes(8 * MIB))
  const id = parseProgress(progress).upload ?? ''
  const { signal } = new AbortController()
  await uploadPart(clientOf(settings), { object: objectOf(key), id }, number, part.seal(), signal)
}

describe.skipIf(whyNoCeph() !== null)('a blob in S3 that is written in several sessions', () => {
  const spoilt: [string, Fault] = ['a spoilt byte', { kind: 'spoil', at: 70_000 }]

  test.each([...passing, spoilt])('outlasts %s when it is kept', async (_, fault) => {
    await using fixture = await startFixture()
    const { proxy, store, direct } = fixture
    const key = newKey()
    const content = random.bytes(MIB)
    const writer = await store.resume(key, null)
    await writer.write(content)
    proxy.inject(fault, { match: isTail })
    const kept = await writer.keep()
    expect(proxy.requests.filter(isTail).length).toBeGreaterThan(1)
    await writer.close()
    await (await direct.resume(key, kept)).complete()
    expect((await get(direct, key, 0, MIB)).equals(content)).toBe(true)
  })

  test.each(passing)('outlasts %s when it is gone on with', async (_, fault) => {
    await using fixture = await startFixture()
    const { proxy, store, direct } = fixture
    const key = newKey()
    const content = random.bytes(9 * MIB)
    const writer = await store.resume(key, null)
    await writer.write(content)
    const kept = await writer.keep()
    await writer.close()
    proxy.inject(fault, { match: isParts })
    proxy.inject(fault, { match: isTailRead })
    await (await store.resume(key, kept)).complete()
    expect((await get(direct, key, 0, 9 * MIB)).equals(content)).toBe(true)
  })

  test.each([
    ['its tail', isTail],
    ['its parts', isPart],
  ] as const)('is as it was kept before when the store goes away from %s', async (_, match) => {
    await using fixture = await startFixture()
    const { proxy, store, settings } = fixture
    const key = newKey()
    const [first, second] = [random.bytes(9 * MIB), random.bytes(9 * MIB)]
    const writer = await store.resume(key, null)
    await writer.write(first)
    const kept = await writer.keep()
    proxy.inject({ kind: 'cut' }, { match, times: Infinity })
    const more = async () => {
      await writer.write(random.bytes(18 * MIB))
      await writer.keep()
    }
    expect(await reasonOf(more())).toBe('away')
    await writer.close()
    proxy.heal()
    const next = await store.resume(key, kept)
    await next.write(second)
    await next.keep()
    await next.complete()
    const whole = await get(store, key, 0, 18 * MIB)
    expect(whole.equals(Buffer.concat([first, second]))).toBe(true)
    expect(await inBucket(settings)).toEqual([objectOf(key)])
  })

  test('is completed by the next session when nobody could tell that it was', async () => {
    await using fixture = await startFixture()
    const { proxy, store, settings } = fixture
    const key = newKey()
    const writer = await store.resume(key, null)
    await writer.write(random.bytes(9 * MIB))
    const kept = await writer.keep()
    proxy.inject({ kind: 'lose-answer' }, { match: isJoin, times: Infinity })
    expect(await reasonOf(writer.complete())).toBe('away')
    await writer.close()
    await (await store.resume(key, kept)).complete()
    expect(await store.size(key)).toBe(9 * MIB)
    expect(await inBucket(settings)).toEqual([objectOf(key)])
  })

  test('keeps two tails at most, and what was recorded is never written over', async () => {
    await using fixture = await startFixture()
    const { proxy, store, settings } = fixture
    const key = newKey()
    let kept: KeptBlob | null = null
    const content = random.bytes(3 * MIB)
    for (let session = 0; session < 8; session++) {
      const writer = await store.resume(key, kept)
      await writer.write(content)
      kept = await writer.keep()
      await writer.close()
      const tails = (await inBucket(settings)).filter((name) => name.startsWith('tails/'))
      expect(tails.length).toBeLessThanOrEqual(2)
    }
    const paths = proxy.requests.filter(isTail).map(({ path }) => path)
    expect(paths.length).toBeGreaterThan(4)
    expect(new Set(paths).size).toBe(paths.length)
    await (await store.resume(key, kept)).complete()
    const whole = Buffer.concat(Array.from({ length: 8 }, () => content))
    expect((await get(store, key, 0, whole.length)).equals(whole)).toBe(true)
    expect(await inBucket(settings)).toEqual([objectOf(key)])
  })

  test('leaves nothing in the bucket when it is removed, nor what killed sessions forgot', async () => {
    await using fixture = await startFixture()
    const { store, settings } = fixture
    const key = newKey()
    for (const size of [3, 9 * MIB, 20 * MIB]) {
      const writer = await store.resume(key, null)
      await writer.write(random.bytes(size))
      await writer.keep()
      await writer.close()
    }
    expect((await inBucket(settings)).length).toBeGreaterThan(3)
    await store.remove(key)
    expect(await inBucket(settings)).toEqual([])
  })

  test('is refused when a part arrived late that is not its own', async () => {
    await using fixture = await startFixture()
    const { store, settings } = fixture
    const key = newKey()
    const writer = await store.resume(key, null)
    await writer.write(random.bytes(17 * MIB))
    const kept = await writer.keep()
    await lateArrival(settings, key, kept, 2)
    await expect(writer.complete()).rejects.toBeInstanceOf(BlobMissing)
    expect(await store.size(key)).toBeNull()
    await writer.close()
    await expect(store.resume(key, kept)).rejects.toBeInstanceOf(BlobMissing)
  })

  test('writes over the parts that a dead session has sent beyond what was kept', async () => {
    await using fixture = await startFixture()
    const { store, settings } = fixture
    const key = newKey()
    const content = random.bytes(33 * MIB)
    const writer = await store.resume(key, null)
    await writer.write(content.subarray(0, 17 * MIB))
    const kept = await writer.keep()
    await writer.close()
    for (const number of [3, 4, 5]) await lateArrival(settings, key, kept, number)
    const next = await store.resume(key, kept)
    await next.write(content.subarray(17 * MIB))
    await next.keep()
    await next.complete()
    expect((await get(store, key, 0, content.length)).equals(content)).toBe(true)
  })

  test('has nothing of the parts that a dead session has sent beyond its end', async () => {
    await using fixture = await startFixture()
    const { store, settings } = fixture
    const key = newKey()
    const content = random.bytes(17 * MIB)
    const writer = await store.resume(key, null)
    await writer.write(content)
    const kept = await writer.keep()
    await lateArrival(settings, key, kept, 7)
    // Ceph refuses to leave a part out, others do not.
    const outcome: unknown = await writer.complete().catch((error: unknown) => error)
    if (outcome === undefined) {
      expect((await get(store, key, 0, content.length)).equals(content)).toBe(true)
    } else {
      expect(outcome).toBeInstanceOf(BlobMissing)
      expect(await store.size(key)).toBeNull()
    }
  })

  test.each(['upload', 'tail'] as const)('is lost when the store has lost its %s', async (what) => {
    await using fixture = await startFixture()
    const { store, settings } = fixture
    const key = newKey()
    const writer = await store.resume(key, null)
    await writer.write(random.bytes(9 * MIB))
    const kept = await writer.keep()
    await writer.close()
    const client = clientOf(settings)
    const { upload, tail } = parseProgress(kept.progress)
    if (what === 'tail') await deleteObject(client, `tails/${key.slice(0, 2)}/${key}/${tail}`)
    else await client.send({ method: 'DELETE', object: objectOf(key), query: { uploadId: upload ?? '' } })
    await expect(store.resume(key, kept)).rejects.toBeInstanceOf(BlobMissing)
  })

  test('has its parts listed page by page', async () => {
    const client = await newClient()
    const key = newKey()
    const sessions = { client, memory: partMemory(0), random: systemRandom, planPart: smallParts }
    const writer = await resumeOnS3(sessions, key, null)
    await writer.write(random.bytes(26 * MIB))
    const { progress } = await writer.keep()
    const upload = { object: objectOf(key), id: parseProgress(progress).upload ?? '' }
    const parts = await Array.fromAsync(storedParts(client, upload, { page: 2 }))
    expect(parts.map(({ size }) => size)).toEqual(Array.from({ length: 5 }, () => 5 * MIB))
    await writer.complete()
  })

  test('takes no more memory than it may, and gives it back when it is closed', async () => {
    const client = await newClient()
    const limit = 10 * MIB
    const memory = partMemory(limit)
    const sessions = { client, memory, random: systemRandom, planPart: smallParts }
    const keys = Array.from({ length: 4 }, newKey)
    const kept = await Promise.all(
      keys.map(async (key) => {
        const writer = await resumeOnS3(sessions, key, null)
        await writer.write(random.bytes(22 * MIB))
        const kept = await writer.keep()
        await writer.close()
        return kept
      }),
    )
    await Promise.all(
      keys.map(async (key, at) => {
        const writer = await resumeOnS3(sessions, key, kept[at] ?? null)
        await writer.write(random.bytes(22 * MIB))
        await writer.close()
      }),
    )
    expect(memory.take(limit)).toBe(true)
    expect(memory.take(1)).toBe(false)
  })
})

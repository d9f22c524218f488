/** How a blob is split into parts, sent, resumed and joined, on a store in memory with parts of ten bytes. */
import { expect, test } from 'bun:test'
import type { KeptBlob } from '../../../src/blobs/blob-store.ts'
import { S3Writer } from '../../../src/blobs/s3.ts'
import { S3Failure } from '../../../src/blobs/s3-failure.ts'
import { objectOf } from '../../../src/blobs/s3-objects.ts'
import { resumeOnS3 } from '../../../src/blobs/s3-resumable.ts'
import { partMemory, storedParts } from '../../../src/blobs/s3-uploads.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { chance } from '../../support/chance.ts'
import { MemoryS3 } from '../../support/storage/memory-s3.ts'

const PART = 10
const random = chance(27)
const bytes = (size: number) => Buffer.from(random.bytes(size))

function newObject(plan = { size: PART, held: 3 }) {
  const client = new MemoryS3()
  const key = makeBlobKey(systemRandom)
  const object = objectOf(key)
  const parts = { client, memory: partMemory(1000), random: systemRandom, planPart: () => plan }
  return {
    client,
    object,
    writer: () => new S3Writer({ ...parts, object }),
    resume: (kept: KeptBlob | null) => resumeOnS3(parts, key, kept),
    stored: () => client.objects.get(object),
    sentParts: () => client.requests.filter((name) => name.startsWith('PUT part')),
    tails: () => [...client.objects.keys()].filter((name) => name.startsWith('tails/')),
  }
}

test.each([
  [0, []],
  [PART - 1, []],
  [PART, ['PUT part 1']],
  [PART + 1, ['PUT part 1', 'PUT part 2']],
  [3 * PART, ['PUT part 1', 'PUT part 2', 'PUT part 3']],
])('%d bytes are sent as parts numbered from 1, the last of which is never empty', async (size, sent) => {
  const { writer, stored, sentParts } = newObject()
  const content = bytes(size)
  const to = writer()
  await to.write(content)
  expect(await to.complete()).toBe(size)
  expect(sentParts()).toEqual(sent)
  expect(stored()).toEqual(content)
})

test('parts that are stored in another order than they were sent are joined in order', async () => {
  const { client, writer, stored } = newObject()
  const content = bytes(3 * PART + 1)
  const others = Promise.withResolvers<void>()
  client.before = (_, name) => (name === 'PUT part 1' ? others.promise : undefined)
  client.after = (name) => {
    if (name === 'PUT part 3') others.resolve()
  }
  const to = writer()
  await to.write(content)
  await to.complete()
  expect(stored()).toEqual(content)
})

test('no more parts are in memory than the plan allows', async () => {
  const { client, writer } = newObject({ size: PART, held: 3 })
  const going = Promise.withResolvers<void>()
  client.before = (_, name) => (name.startsWith('PUT part') ? going.promise : undefined)
  const to = writer()
  const writing = to.write(bytes(9 * PART))
  await Bun.sleep(20)
  expect(client.requests.filter((name) => name.startsWith('PUT part'))).toHaveLength(3)
  going.resolve()
  await writing
  expect(await to.complete()).toBe(9 * PART)
})

test.each([
  [10_000, 10_000],
  [10_001, 'full'],
])('of %d parts S3 takes 10,000', async (count, outcome) => {
  const { writer } = newObject({ size: 1, held: 100 })
  const to = writer()
  const whole = (async () => {
    await to.write(bytes(count))
    return to.complete()
  })()
  expect(await whole.catch(({ reason }: { reason?: string }) => reason)).toBe(outcome)
})

test('parts that were joined by a try whose answer was lost are a whole object', async () => {
  const { client, writer, stored } = newObject()
  const content = bytes(2 * PART)
  client.after = (name) => {
    if (name.startsWith('POST') && name.endsWith('upload')) throw new S3Failure(404, 'NoSuchUpload', '')
  }
  const to = writer()
  await to.write(content)
  expect(await to.complete()).toBe(content.length)
  expect(stored()).toEqual(content)
})

test('an aborted upload leaves neither parts nor an object', async () => {
  const { client, writer } = newObject()
  for (const isCompleted of [false, true]) {
    const to = writer()
    await to.write(bytes(2 * PART + 1))
    if (isCompleted) await to.complete()
    await to.abort()
    expect({ uploads: client.uploads.size, objects: client.objects.size }).toEqual({ uploads: 0, objects: 0 })
  }
})

test('a session continues with the part after those that were kept, and with their tail', async () => {
  const { client, resume, stored, sentParts, tails } = newObject()
  const content = bytes(5 * PART + 3)
  const first = await resume(null)
  await first.write(content.subarray(0, 2 * PART + 4))
  const kept = await first.keep()
  expect(kept.offset).toBe(2 * PART + 4)
  await first.write(bytes(2 * PART))
  await first.close()
  const second = await resume(kept)
  await second.write(content.subarray(kept.offset))
  await second.keep()
  expect(await second.complete()).toBe(content.length)
  expect(stored()).toEqual(content)
  expect(sentParts().slice(-4)).toEqual(['PUT part 3', 'PUT part 4', 'PUT part 5', 'PUT part 6'])
  expect({ tails: tails(), uploads: client.uploads.size }).toEqual({ tails: [], uploads: 0 })
})

test('a session that ends where a part does leaves no tail', async () => {
  const { resume, stored, tails } = newObject()
  const content = bytes(3 * PART)
  const first = await resume(null)
  await first.write(content.subarray(0, 2 * PART))
  const kept = await first.keep()
  await first.close()
  expect(tails()).toEqual([])
  const second = await resume(kept)
  await second.write(content.subarray(2 * PART))
  await second.keep()
  await second.complete()
  expect(stored()).toEqual(content)
})

test('the last two kept states can be resumed, and the tail of no third one stays', async () => {
  const { resume, tails } = newObject()
  let kept: KeptBlob | null = null
  for (let round = 0; round < 4; round++) {
    const before: KeptBlob | null = kept
    const session = await resume(kept)
    await session.write(bytes(1))
    kept = await session.keep()
    await session.close()
    expect(kept.offset).toBe(round + 1)
    if (before !== null) await (await resume(before)).close()
    expect(tails().length).toBeLessThanOrEqual(2)
  }
})

test('a part that was overwritten by a killed session is noticed at the next one', async () => {
  const { client, resume } = newObject()
  const session = await resume(null)
  await session.write(bytes(2 * PART))
  const kept = await session.keep()
  await session.close()
  for (const { parts } of client.uploads.values()) {
    parts.set(2, { etag: '"another"', bytes: bytes(PART) })
  }
  await expect(resume(kept)).rejects.toMatchObject({ name: 'BlobMissing' })
})

test('parts are listed page by page, up to the first gap', async () => {
  const { client, object, resume } = newObject()
  const session = await resume(null)
  await session.write(bytes(6 * PART))
  await session.keep()
  await session.close()
  for (const [id, { parts }] of client.uploads) {
    parts.delete(5)
    for (const page of [1, 2, 4, 1000]) {
      const listed = await Array.fromAsync(storedParts(client, { object, id }, { page }))
      expect(listed.map(({ etag }) => etag)).toEqual(
        [1, 2, 3, 4].map((number) => parts.get(number)?.etag ?? ''),
      )
    }
  }
})

test('what is safe in the middle of a session is its leading parts', async () => {
  const { client, resume } = newObject()
  const going = Promise.withResolvers<void>()
  client.before = (_, name) => (name === 'PUT part 2' ? going.promise : undefined)
  const session = await resume(null)
  await session.write(bytes(3 * PART + 1))
  await Bun.sleep(20)
  expect(session.safe()?.offset).toBe(PART)
  expect(session.safe()).toBeNull()
  going.resolve()
  await Bun.sleep(20)
  expect(session.safe()?.offset).toBe(3 * PART)
  await session.close()
})

import { describe, expect, test } from 'bun:test'
import { systemPacing } from '../../../src/blobs/retries.ts'
import { openS3Blobs, S3Writer } from '../../../src/blobs/s3.ts'
import { s3Client, usualTimeouts } from '../../../src/blobs/s3-client.ts'
import { objectOf } from '../../../src/blobs/s3-objects.ts'
import { partMemory } from '../../../src/blobs/s3-uploads.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { chance } from '../../support/chance.ts'
import { bytesOf, keysOf } from '../../support/storage/blob-chunks.ts'
import { newBucket, whyNoCeph } from '../../support/storage/ceph.ts'
import { memoryOfUpload } from '../../support/storage/s3-memory.ts'

const MIB = 1024 * 1024
const random = chance(23)
const newKey = () => makeBlobKey(systemRandom)
/** As small as S3 takes them. */
const smallParts = () => ({ size: 5 * MIB, held: 4 })

describe.skipIf(whyNoCeph() !== null)('blobs in S3', () => {
  test('are given out by the store itself under an address that names type and file', async () => {
    const store = await openS3Blobs(await newBucket(), systemRandom)
    const key = newKey()
    const writer = await store.create(key)
    await writer.write(Buffer.from('hello there'))
    await writer.complete()
    const disposition = `attachment; filename="a+b (1) & c.txt"; filename*=UTF-8''na%C3%AFve%20%2B.txt`
    const link = await store.link(key, { seconds: 60, type: 'text/plain; charset=utf-8', disposition })
    const answer = await fetch(link ?? '')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
    expect(answer.headers.get('Content-Disposition')).toBe(disposition)
    expect(answer.headers.get('Cache-Control')).toBe('private')
    expect(await answer.text()).toBe('hello there')
    const part = await fetch(link ?? '', { headers: { Range: 'bytes=6-' } })
    expect({ status: part.status, text: await part.text() }).toEqual({ status: 206, text: 'there' })
  })

  test('are not given out under an address that was changed or is over', async () => {
    const store = await openS3Blobs(await newBucket(), systemRandom)
    const key = newKey()
    const writer = await store.create(key)
    await writer.complete()
    const link = await store.link(key, { seconds: 1, type: 'text/plain', disposition: 'inline' })
    const changed = (link ?? '').replace('text%2Fplain', 'text%2Fhtml')
    expect(changed).not.toBe(link)
    expect((await fetch(changed)).status).toBe(403)
    await Bun.sleep(2500)
    expect((await fetch(link ?? '')).status).toBe(403)
  })

  test('are of a bucket that several nodes may make at the same time', async () => {
    const settings = await newBucket()
    const stores = await Promise.all(Array.from({ length: 4 }, () => openS3Blobs(settings, systemRandom)))
    await stores[0]?.writeMark('one')
    expect(await Promise.all(stores.map((store) => store.readMark()))).toEqual(['one', 'one', 'one', 'one'])
  })

  test('are put together of parts that grow', async () => {
    const settings = await newBucket()
    const store = await openS3Blobs(settings, systemRandom)
    const key = newKey()
    const sizes = [5, 5, 6, 6, 7, 7, 7]
    const plan = (number: number) => ({ size: (sizes[number - 1] ?? 8) * MIB, held: number < 3 ? 4 : 2 })
    const client = s3Client(settings, systemPacing(systemRandom), usualTimeouts)
    const content = random.bytes(51 * MIB + 1)
    const writer = new S3Writer({ client, object: objectOf(key), memory: partMemory(0), planPart: plan })
    for (let at = 0; at < content.length; at += MIB) await writer.write(content.subarray(at, at + MIB))
    await writer.complete()
    expect((await bytesOf(await store.read(key, 0, content.length))).equals(content)).toBe(true)
  })

  test('take no more memory together than they may, and never wait for each other', async () => {
    const settings = await newBucket()
    const store = await openS3Blobs(settings, systemRandom)
    const client = s3Client(settings, systemPacing(systemRandom), usualTimeouts)
    const limit = 10 * MIB
    const memory = partMemory(limit)
    const content = random.bytes(22 * MIB)
    const keys = Array.from({ length: 6 }, newKey)
    // These have begun a part each, and more, and are in no hurry.
    const idle = Array.from(
      { length: 3 },
      () => new S3Writer({ client, object: objectOf(newKey()), memory, planPart: smallParts }),
    )
    for (const writer of idle) await writer.write(content.subarray(0, 12 * MIB))
    await Promise.all(
      keys.map(async (key) => {
        const writer = new S3Writer({ client, object: objectOf(key), memory, planPart: smallParts })
        await writer.write(content)
        await writer.complete()
      }),
    )
    for (const key of keys) expect(await store.size(key)).toBe(content.length)
    for (const writer of idle) await writer.abort()
    expect(memory.take(limit)).toBe(true)
    expect(memory.take(1)).toBe(false)
  })

  test('raise the memory by less than 96 MiB while a large one is written', async () => {
    expect(await memoryOfUpload(await newBucket(), 1024 * MIB)).toBeLessThan(96 * MIB)
  })

  test('are refused, not missing, when their bucket has gone', async () => {
    const settings = await newBucket()
    const store = await openS3Blobs(settings, systemRandom)
    await s3Client(settings, systemPacing(systemRandom), usualTimeouts).send({ method: 'DELETE' })
    const refused = { name: 'StoreFailure', reason: 'refused' }
    await expect(store.size(newKey())).rejects.toMatchObject(refused)
    await expect(store.read(newKey(), 0, 1)).rejects.toMatchObject(refused)
    await expect(store.remove(newKey())).rejects.toMatchObject(refused)
    await expect(store.readMark()).rejects.toMatchObject(refused)
    await expect(store.probe()).rejects.toMatchObject(refused)
  })

  test('are told from what else lies in the bucket', async () => {
    const settings = await newBucket()
    const store = await openS3Blobs(settings, systemRandom)
    const client = new Bun.S3Client(settings)
    for (const name of ['blobs/ab/notes.txt', 'blobs/0123', 'other/ab/x', `blobs/00/${'f'.repeat(32)}`]) {
      await client.write(name, 'not ours')
    }
    expect(await keysOf(store)).toEqual([])
  })

  test.each([
    [true, 'https://store.example:9000/base/bucket/blobs/ab/'],
    [false, 'https://bucket.store.example:9000/base/blobs/ab/'],
  ])('have addresses with the bucket where the store wants it: in the path %p', async (pathStyle, start) => {
    const settings = {
      ...(await newBucket()),
      endpoint: 'https://store.example:9000/base/',
      bucket: 'bucket',
    }
    const client = s3Client({ ...settings, pathStyle }, systemPacing(systemRandom), usualTimeouts)
    expect(await client.presign('blobs/ab/x', {}, 60)).toStartWith(`${start}x?`)
  })
})

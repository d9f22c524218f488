import { describe, expect, test } from 'bun:test'
import { connect, createServer, type Socket } from 'node:net'
import type { BlobStore } from '../../../src/blobs/blob-store.ts'
import { openS3Blobs } from '../../../src/blobs/s3.ts'
import type { BlobKey } from '../../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { chance } from '../../support/chance.ts'
import { bytesOf } from '../../support/storage/blob-chunks.ts'
import { newBucket, whyNoCeph } from '../../support/storage/ceph.ts'
import { put, startFixture } from '../../support/storage/faulty-s3.ts'

const MIB = 1024 * 1024
/** Sent in one piece. */
const SMALL = 100 * 1024
const newKey = () => makeBlobKey(systemRandom)

/** A TCP proxy that counts the connections through it and passes all bytes on as they are. */
async function startCounter(target: string) {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  let accepted = 0
  const server = createServer((client) => {
    accepted++
    const store = connect(Number(port), hostname)
    for (const [socket, other] of [
      [client, store],
      [store, client],
    ] as const) {
      open.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => open.delete(socket))
      socket.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy listens nowhere')
  return {
    url: `http://127.0.0.1:${address.port}`,
    accepted: () => accepted,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** Reads that many bytes from offset 7. */
async function assertRange(store: BlobStore, key: BlobKey, content: Uint8Array, length: number) {
  const bytes = await bytesOf(await store.read(key, 7, 7 + length))
  expect(bytes.equals(content.subarray(7, 7 + length))).toBe(true)
}

describe.skipIf(whyNoCeph() !== null)('connections to S3', () => {
  test('serve small uploads, short and long ranges, one after another, without a new one', async () => {
    const settings = await newBucket()
    await using counter = await startCounter(settings.endpoint)
    const store = await openS3Blobs({ ...settings, endpoint: counter.url }, systemRandom)
    const content = chance(31).bytes(2 * MIB)
    const large = newKey()
    await put(store, large, content)
    await put(store, newKey(), content.subarray(0, SMALL))
    const before = counter.accepted()
    for (const key of Array.from({ length: 10 }, newKey)) {
      await put(store, key, content.subarray(0, SMALL))
      await assertRange(store, key, content, SMALL - 7)
      await assertRange(store, large, content, MIB)
    }
    expect(counter.accepted() - before).toBe(0)
  })

  test('mostly outlive large uploads', async () => {
    const settings = await newBucket()
    await using counter = await startCounter(settings.endpoint)
    const store = await openS3Blobs({ ...settings, endpoint: counter.url }, systemRandom)
    const content = chance(32).bytes(2 * MIB)
    const before = counter.accepted()
    for (const key of Array.from({ length: 10 }, newKey)) {
      await put(store, key, content)
      await assertRange(store, key, content, MIB)
    }
    // Bun closes a connection whose answer arrives before it has noticed that the stream of the body has ended.
    expect(counter.accepted() - before).toBeLessThan(8)
  })

  test('carry one PUT for a small upload, and one GET for a range', async () => {
    await using fixture = await startFixture()
    const { proxy, store } = fixture
    const key = newKey()
    const before = proxy.requests.length
    await put(store, key, Buffer.from('hello there'))
    expect(proxy.requests.slice(before).map(({ method }) => method)).toEqual(['PUT'])
    await bytesOf(await store.read(key, 6, 11))
    expect(proxy.requests.slice(before).map(({ method }) => method)).toEqual(['PUT', 'GET'])
  })
})

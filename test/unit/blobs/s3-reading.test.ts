/** Which ranges are read in one piece. */
import { expect, test } from 'bun:test'
import type { S3Request, S3Stream } from '../../../src/blobs/s3-client.ts'
import { objectOf } from '../../../src/blobs/s3-objects.ts'
import { readChunks } from '../../../src/blobs/s3-reading.ts'
import { partMemory } from '../../../src/blobs/s3-uploads.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { MemoryS3 } from '../../support/storage/memory-s3.ts'

const KIB = 1024

/** Counts how bodies are read. */
class WatchedS3 extends MemoryS3 {
  readonly ways: string[] = []

  override open<T>(request: S3Request, use: (answer: S3Stream) => T | Promise<T>): Promise<T> {
    return super.open(request, (answer) => {
      const said = (way: string) => this.ways.push(way)
      const bytes = (length: number) => {
        said('whole')
        return answer.bytes(length)
      }
      const takeBody = () => {
        said('chunks')
        return answer.takeBody()
      }
      return use({ ...answer, bytes, takeBody })
    })
  }
}

test('ranges up to 1 MiB, while the memory lasts that their readers hold', async () => {
  const store = new WatchedS3()
  const memory = partMemory(2000 * KIB)
  const read = async (size: number) => {
    const key = makeBlobKey(systemRandom)
    store.objects.set(objectOf(key), Buffer.alloc(size))
    return readChunks(store, { key, start: 0, end: size, size }, memory)
  }
  const first = await read(1024 * KIB)
  const second = await read(900 * KIB)
  await read(900 * KIB)
  await read(512 * KIB)
  await read(1025 * KIB)
  expect(store.ways.splice(0)).toEqual(['whole', 'whole', 'chunks', 'whole', 'chunks'])
  // Read to its end, and given up twice.
  while ((await first.next()) !== null);
  second.cancel()
  second.cancel()
  await read(1000 * KIB)
  await read(1000 * KIB)
  await read(1000 * KIB)
  expect(store.ways).toEqual(['whole', 'whole', 'chunks'])
})

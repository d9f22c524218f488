/** How the bytes of a zip are read, with contents that are made here. */
import { describe, expect, test } from 'bun:test'
import type { BlobBody } from '../../src/blobs/blob-store.ts'
import type { ZipSegment } from '../../src/domain/zip-layout.ts'
import { type ArchiveSource, archiveStream } from '../../src/services/archive-stream.ts'
import { eventually } from '../support/eventually.ts'

const KIB = 1024
const MIB = 1024 * KIB

function* segments(sizes: readonly number[]): Generator<ZipSegment> {
  for (const [entry, end] of sizes.entries()) {
    yield { kind: 'record', bytes: new Uint8Array(50), begins: entry }
    yield { kind: 'content', entry, start: 0, end }
  }
}

interface Watched {
  readonly source: ArchiveSource
  readonly opened: number[]
  readonly began: number[]
  readonly failures: unknown[]
}

function watched(read: (entry: number, length: number) => BlobBody | Promise<BlobBody>): Watched {
  const found = { opened: [] as number[], began: [] as number[], failures: [] as unknown[] }
  return {
    ...found,
    source: {
      async read(entry, start, end) {
        found.opened.push(entry)
        return read(entry, end - start)
      },
      began: (entry) => found.began.push(entry),
      failed: (error) => found.failures.push(error),
    },
  }
}

const blob = (length: number) => new Blob([new Uint8Array(length)])

describe('the stream of a zip', () => {
  test('joins small pieces into chunks of a quarter of a MiB', async () => {
    const { source } = watched((_, length) => blob(length))
    const lengths: number[] = []
    for await (const chunk of archiveStream(segments(Array.from({ length: 300 }, () => 10 * KIB)), source)) {
      lengths.push(chunk.length)
    }
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(300 * (10 * KIB + 50))
    for (const length of lengths.slice(0, -1)) expect(length).toBeGreaterThanOrEqual(256 * KIB)
  })

  test('reads a little ahead of its reader and no further', async () => {
    const { source, opened } = watched((_, length) => blob(length))
    const reader = archiveStream(segments(Array.from({ length: 1000 }, () => 100 * KIB)), source).getReader()
    await reader.read()
    await Bun.sleep(20)
    expect(opened.length).toBeGreaterThan(3)
    expect(opened.length).toBeLessThan(40)
    await reader.cancel()
  })

  test('reads nothing more once it is cancelled, and cancels what it reads', async () => {
    let cancelled = 0
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(KIB)),
        cancel() {
          cancelled++
        },
      })
    const { source, opened, failures } = watched(endless)
    const reader = archiveStream(segments([10 * MIB, 10 * MIB]), source).getReader()
    await reader.read()
    await reader.cancel()
    await eventually('the content is cancelled', () => cancelled === 1)
    expect(opened).toEqual([0])
    expect(failures).toEqual([])
  })

  test('cancels a content that is opened only after the reader has left', async () => {
    let cancelled = 0
    const opening = Promise.withResolvers<BlobBody>()
    const { source } = watched(() => opening.promise)
    const reader = archiveStream(segments([10 * MIB]), source).getReader()
    const first = reader.read()
    first.catch(() => {})
    await Bun.sleep(5)
    await reader.cancel()
    opening.resolve(
      new ReadableStream<Uint8Array>({
        cancel() {
          cancelled++
        },
      }),
    )
    await eventually('the content is cancelled', () => cancelled === 1)
  })

  const wrong = [
    ['a small content that is shorter', 10 * KIB, (length: number) => blob(length - 1)],
    ['a small content that is longer', 10 * KIB, (length: number) => blob(length + 1)],
    ['a large content that is shorter', 3 * MIB, (length: number) => blob(length - 1)],
    ['a large stream that is shorter', 3 * MIB, (length: number) => blob(length - 1).stream()],
    ['a large stream that is longer', 3 * MIB, (length: number) => blob(length + 1).stream()],
    ['a small content that cannot be read', 10 * KIB, () => Promise.reject(new Error('gone'))],
    ['a large content that cannot be read', 3 * MIB, () => Promise.reject(new Error('gone'))],
  ] as const

  test.each(wrong)('fails at %s, and says so', async (_, size, body) => {
    const { source, failures } = watched((entry, length) => (entry === 1 ? body(length) : blob(length)))
    const read = new Response(archiveStream(segments([1000, size, 1000]), source)).bytes()
    expect(
      await read.then(
        () => 'whole',
        () => 'broken off',
      ),
    ).toBe('broken off')
    expect(failures).toHaveLength(1)
  })
})

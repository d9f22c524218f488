/** How the bytes of a zip are read, with contents that are made here. */

import { describe, expect, test } from 'bun:test'
import type { BlobChunks } from '../../../../src/blobs/blob-store.ts'
import type { ArchiveSource } from '../../../../src/downloads/zip/archive-filler.ts'
import { archiveStream } from '../../../../src/downloads/zip/archives.ts'
import type { ZipSegment } from '../../../../src/downloads/zip/zip-records.ts'
import { eventually } from '../../../support/eventually.ts'
import { chunksOf } from '../../../support/storage/blob-chunks.ts'

const KIB = 1024
const MIB = 1024 * KIB
const RECORD = 50

function* segments(sizes: readonly number[]): Generator<ZipSegment> {
  for (const [entry, end] of sizes.entries()) {
    yield { kind: 'record', bytes: new Uint8Array(RECORD).fill(entry), begins: entry }
    if (end > 0) yield { kind: 'content', entry, start: 0, end }
  }
}

/** An entry's content, from `start` on: no two places near each other are alike. */
function contentFrom(entry: number, start: number, target: Uint8Array): void {
  for (let at = 0; at < target.length; at++) target[at] = entry + (start + at) + ((start + at) >> 8)
}

function archiveOf(sizes: readonly number[]): Buffer {
  const pieces = sizes.flatMap((size, entry) => {
    const content = new Uint8Array(size)
    contentFrom(entry, 0, content)
    return [new Uint8Array(RECORD).fill(entry), content]
  })
  return Buffer.concat(pieces)
}

/** In chunks of 200 KiB. */
function contentOf(entry: number, start: number, end: number): BlobChunks {
  const content = new Uint8Array(end - start)
  contentFrom(entry, start, content)
  const count = Math.ceil(content.length / (200 * KIB))
  return chunksOf(
    ...Array.from({ length: count }, (_, at) => content.subarray(at * 200 * KIB, (at + 1) * 200 * KIB)),
  )
}

interface Watched {
  readonly source: ArchiveSource
  readonly opened: number[]
  readonly began: number[]
  readonly failures: unknown[]
}

function watched(
  read: ArchiveSource['read'] = async (entry, start, end) => contentOf(entry, start, end),
): Watched {
  const found = { opened: [] as number[], began: [] as number[], failures: [] as unknown[] }
  return {
    ...found,
    source: {
      read(entry, start, end) {
        if (start === 0) found.opened.push(entry)
        return read(entry, start, end)
      },
      began: (entry) => found.began.push(entry),
      failed: (error) => found.failures.push(error),
      sent() {},
      ended: new AbortController().signal,
      over() {},
    },
  }
}

async function readWith(stream: ReadableStream<Uint8Array>, room: number): Promise<Uint8Array[]> {
  const reader = stream.getReader({ mode: 'byob' })
  const chunks: Uint8Array[] = []
  let memory = new ArrayBuffer(room)
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(memory))
    if (done) return chunks
    chunks.push(value.slice())
    memory = value.buffer
  }
}

describe('the stream of a zip', () => {
  const sizes = [10, 0, 3 * MIB, 100 * KIB, 512 * KIB, 512 * KIB + 1, 0, 700 * KIB, 7]

  test.each([1000, 64 * KIB, 512 * KIB, 20 * MIB])('is the same in pieces of %d bytes', async (room) => {
    const { source, began } = watched()
    const chunks = await readWith(archiveStream(segments(sizes), source), room)
    expect(Buffer.concat(chunks).equals(archiveOf(sizes))).toBe(true)
    for (const chunk of chunks.slice(0, -1)) expect(chunk.length).toBe(room)
    expect(began).toEqual([...sizes.keys()])
  })

  test('is the same for readers without memory of their own', async () => {
    const whole = await new Response(archiveStream(segments(sizes), watched().source)).bytes()
    expect(archiveOf(sizes).equals(whole)).toBe(true)
  })

  test('reads several contents at once, and no more than 32', async () => {
    let underWay = 0
    let most = 0
    const { source } = watched(async (entry, start, end) => {
      most = Math.max(most, ++underWay)
      await Bun.sleep(1)
      underWay--
      return contentOf(entry, start, end)
    })
    const many = Array.from({ length: 200 }, () => KIB)
    await readWith(archiveStream(segments(many), source), MIB)
    expect(most).toBe(32)
  })

  test('reads no further than its reader asks', async () => {
    const { source, opened } = watched()
    const reader = archiveStream(segments(Array.from({ length: 1000 }, () => 100 * KIB)), source).getReader({
      mode: 'byob',
    })
    await reader.read(new Uint8Array(250 * KIB))
    await Bun.sleep(20)
    expect(opened).toEqual([0, 1, 2])
    await reader.cancel()
  })

  test('reads nothing more once it is cancelled, and cancels what it reads', async () => {
    let cancelled = 0
    const { source, opened, failures } = watched(async () => ({
      next: async () => new Uint8Array(KIB),
      cancel() {
        cancelled++
      },
      release() {},
    }))
    const reader = archiveStream(segments([10 * MIB, 10 * MIB]), source).getReader()
    await reader.read()
    await reader.cancel()
    await eventually('the content is cancelled', () => cancelled === 1)
    expect(opened).toEqual([0])
    expect(failures).toEqual([])
  })

  test('begins none of the contents that wait when it is cancelled', async () => {
    const held = Promise.withResolvers<void>()
    const { source, opened, failures } = watched(async (entry, start, end) => {
      await held.promise
      return contentOf(entry, start, end)
    })
    const reader = archiveStream(segments(Array.from({ length: 200 }, () => KIB)), source).getReader()
    const first = reader.read()
    await eventually('contents are read', () => opened.length === 32)
    await reader.cancel()
    held.resolve()
    expect((await first).done).toBe(true)
    await Bun.sleep(5)
    expect(opened).toHaveLength(32)
    expect(failures).toEqual([])
  })

  test('cancels a content that is opened only after the reader has left', async () => {
    let cancelled = 0
    const opening = Promise.withResolvers<BlobChunks>()
    const { source } = watched(() => opening.promise)
    const reader = archiveStream(segments([10 * MIB]), source).getReader()
    const first = reader.read()
    first.catch(() => {})
    await Bun.sleep(5)
    await reader.cancel()
    opening.resolve({
      next: async () => null,
      cancel() {
        cancelled++
      },
      release() {},
    })
    await eventually('the content is cancelled', () => cancelled === 1)
  })

  const gone = () => Promise.reject(new Error('gone'))
  const wrong = [
    ['a small content that cannot be read', 2, gone],
    ['a large content that cannot be read', 1, gone],
    ['a large content that breaks off', 1, async () => chunksOf(new Uint8Array(1000), new Error('gone'))],
    ['a content that is shorter', 1, async (entry, start, end) => contentOf(entry, start, end - 1)],
    ['a content that is longer', 1, async (entry, start, end) => contentOf(entry, start, end + 1)],
  ] as const satisfies readonly (readonly [string, number, ArchiveSource['read']])[]

  test.each(wrong)('fails at %s, and says so', async (_, which, read) => {
    const { source, failures } = watched(async (entry, start, end) =>
      entry === which ? read(entry, start, end) : contentOf(entry, start, end),
    )
    const whole = new Response(archiveStream(segments([1000, 3 * MIB, 1000]), source)).bytes()
    expect(
      await whole.then(
        () => 'whole',
        () => 'broken off',
      ),
    ).toBe('broken off')
    expect(failures).toHaveLength(1)
  })
})

import { expect, test } from 'bun:test'
import { FileChunks } from '../../../src/blobs/disk-reading.ts'

const MIB = 1024 * 1024

/** A source of `size` bytes that tells when it is read and closed. */
function source(size: number) {
  const told: string[] = []
  const waiting: (() => void)[] = []
  return {
    told,
    /** Lets the oldest read end. */
    proceed: () => waiting.shift()?.(),
    async readInto(start: number, target: Uint8Array) {
      told.push(`read ${start} to ${start + target.length}`)
      await new Promise<void>((resolve) => waiting.push(resolve))
      if (start + target.length > size) throw new Error('the end')
      target.fill(start / MIB + 1)
    },
    async close() {
      told.push('close')
    },
  }
}

test('a file is read by the mebibyte into two buffers in turn, and closed after the last read', async () => {
  const from = source(10 * MIB)
  const body = new FileChunks(from, MIB, 4 * MIB + 5)
  const chunks: Uint8Array[] = []
  for (;;) {
    const coming = body.next()
    from.proceed()
    const chunk = await coming
    if (chunk === null) break
    expect(chunk.every((byte) => byte === chunks.length + 2)).toBe(true)
    chunks.push(chunk)
  }
  expect(chunks.map(({ length }) => length)).toEqual([MIB, MIB, MIB, 5])
  expect(chunks[0]?.buffer).toBe(chunks[2]?.buffer)
  expect(chunks[1]?.buffer).not.toBe(chunks[2]?.buffer)
  expect(from.told.slice(-2)).toEqual([`read ${4 * MIB} to ${4 * MIB + 5}`, 'close'])
  body.cancel()
  expect(from.told.filter((text) => text === 'close')).toHaveLength(1)
})

test('a file whose reading is cancelled is closed, but not while it is read', async () => {
  const idle = source(MIB)
  new FileChunks(idle, 0, MIB).cancel()
  expect(idle.told).toEqual(['close'])
  const from = source(3 * MIB)
  const body = new FileChunks(from, 0, 3 * MIB)
  const coming = body.next()
  body.cancel()
  expect(from.told).toEqual([`read 0 to ${MIB}`])
  from.proceed()
  await coming
  expect(from.told.at(-1)).toBe('close')
  expect(await body.next()).toBeNull()
})

test('a file that cannot be read fails and is closed', async () => {
  const from = source(MIB + 1)
  const body = new FileChunks(from, 0, 3 * MIB)
  const first = body.next()
  from.proceed()
  await first
  const second = body.next()
  from.proceed()
  await expect(second).rejects.toThrow('the end')
  expect(from.told.at(-1)).toBe('close')
})

test('memory is used again by the next reader only after it was released', async () => {
  const memoryOf = async (release: boolean) => {
    const from = source(MIB)
    const body = new FileChunks(from, 0, MIB)
    const coming = body.next()
    from.proceed()
    const chunk = await coming
    if (release) body.release()
    return chunk?.buffer
  }
  const kept = await memoryOf(false)
  const released = await memoryOf(true)
  expect(released).not.toBe(kept)
  expect(await memoryOf(false)).toBe(released)
})

test('readers take small buffers while very many are in use, and long ones again after that', async () => {
  const lengthOf = async (body: FileChunks) => (await body.next())?.length
  const ready = { readInto: async () => {}, close: async () => {} }
  const bodies = Array.from({ length: 100 }, () => new FileChunks(ready, 0, 9 * MIB))
  const lengths: (number | undefined)[] = []
  for (const body of bodies) lengths.push(await lengthOf(body))
  expect(lengths.slice(0, 60).every((length) => length === MIB)).toBe(true)
  expect(lengths.slice(64).every((length) => length === 64 * 1024)).toBe(true)
  for (const body of bodies) body.cancel()
  const after = new FileChunks(ready, 0, 9 * MIB)
  expect(await lengthOf(after)).toBe(MIB)
  after.cancel()
})

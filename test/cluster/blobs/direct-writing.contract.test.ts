import { expect, spyOn, test } from 'bun:test'
import { constants, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import * as files from 'node:fs/promises'
import { join } from 'node:path'
import type { KeptBlob, ResumableWriter } from '../../../src/blobs/blob-store.ts'
import { openDiskBlobs } from '../../../src/blobs/disk.ts'
import { DirectFile, DirectWriting, GrowingFile } from '../../../src/blobs/disk-writing.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { chance } from '../../support/chance.ts'
import { eventually } from '../../support/eventually.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { openFiles } from '../../support/processes/open-files.ts'
import { bytesOf } from '../../support/storage/blob-chunks.ts'

const MIB = 1024 * 1024

/** As an upload brings it: in memory that threads share. Only what comes after 16 MiB may go past the page cache. */
const content = new Uint8Array(new SharedArrayBuffer(32 * MIB))
const random = chance(43)
for (let at = 0; at < content.length; at += MIB) content.set(random.bytes(MIB), at)

/** In blocks that end at whole mebibytes, the first and the last of them ragged. */
async function write(writer: Pick<ResumableWriter, 'write'>, start: number, end: number): Promise<void> {
  for (let at = start; at < end; ) {
    const next = Math.min(end, at - (at % MIB) + MIB)
    await writer.write(content.subarray(at, next))
    at = next
  }
}

async function openStore(folder: string) {
  const store = await openDiskBlobs(folder, systemRandom, { alone: true })
  const key = makeBlobKey(systemRandom)
  const isContent = async () => {
    const bytes = await bytesOf(await store.read(key, 0, content.length))
    return Buffer.from(bytes).equals(content)
  }
  return { store, key, isContent }
}

/** How many handles of the file write past the page cache (open(2), proc(5)). */
function directHandles(name: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      if (!readlinkSync(`/proc/self/fd/${fd}`).endsWith(name)) return false
      const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1]
      return (Number.parseInt(flags ?? '', 8) & constants.O_DIRECT) !== 0
    } catch {
      return false
    }
  }).length
}

test('a large blob goes past the page cache after its beginning, and nothing of it stays open', async () => {
  using folder = temporaryFolder()
  const { store, key, isContent } = await openStore(folder.path)
  const writer = await store.create(key)
  await write(writer, 0, 16 * MIB)
  expect(directHandles(key)).toBe(0)
  await write(writer, 16 * MIB, 17 * MIB)
  expect(directHandles(key)).toBe(1)
  await write(writer, 17 * MIB, content.length)
  await writer.complete()
  expect(await isContent()).toBe(true)
  await eventually('it is closed', () => !openFiles(process.pid).some((path) => path.endsWith(key)))
})

test('a blob in sessions of any length is what was written, and what was not kept is written again', async () => {
  using folder = temporaryFolder()
  const { store, key, isContent } = await openStore(folder.path)
  let kept: KeptBlob | null = null
  for (const end of [17 * MIB + 5, 17 * MIB + 4096, 20 * MIB + 4095, 28 * MIB - 4096, content.length]) {
    const from: number = kept?.offset ?? 0
    const writer = await store.resume(key, kept)
    await write(writer, from, end)
    kept = await writer.keep()
    expect(kept.offset).toBe(end)
    if (end === content.length) await writer.complete()
    else await write(writer, end, Math.min(content.length, end + 2 * MIB + 77))
    await writer.close()
  }
  expect(await isContent()).toBe(true)
})

test('of several writes at a time nothing counts as safe that follows one still under way', async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, 'growing')
  const handle = await files.open(path, 'wx')
  const direct = new HeldFile(new DirectWriting(), path)
  direct.holdAt(16 * MIB)
  const file = new GrowingFile({ handle, path, direct, sync: () => handle.datasync(), from: 0 })
  await write(file, 0, 16 * MIB)
  await file.sync()
  const [held, ...others] = Array.from({ length: 16 }, (_, at) =>
    write(file, (16 + at) * MIB, (17 + at) * MIB),
  )
  await Promise.all(others)
  expect(directHandles('growing')).toBe(1)
  const syncing = file.sync()
  await Bun.sleep(50)
  expect(file.synced).toBe(16 * MIB)
  direct.release()
  await Promise.all([held, syncing])
  expect(file.synced).toBe(content.length)
  await file.close()
  expect(readFileSync(path).equals(content)).toBe(true)
})

test('a sync in the background ends where a write begins that is still under way', async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, 'growing')
  const handle = await files.open(path, 'wx')
  const direct = new HeldFile(new DirectWriting(), path)
  direct.holdAt(20 * MIB)
  const file = new GrowingFile({ handle, path, direct, sync: () => handle.datasync(), from: 0 })
  await write(file, 0, 16 * MIB)
  await file.sync()
  const first = file.write(content.subarray(16 * MIB, 20 * MIB))
  const held = file.write(content.subarray(20 * MIB, 21 * MIB))
  await first
  await eventually('it is synced', () => file.synced > 16 * MIB)
  expect(file.synced).toBe(20 * MIB)
  direct.release()
  await held
  await file.close()
})

test('where the file system refuses to write so, blobs are written as ever, and it is asked once', async () => {
  using folder = temporaryFolder()
  const { store, key, isContent } = await openStore(folder.path)
  using handles = await failingDirectWrites('EINVAL')
  const writer = await store.create(key)
  await write(writer, 0, content.length)
  await writer.complete()
  const another = await store.create(makeBlobKey(systemRandom))
  await write(another, 0, 18 * MIB)
  await another.abort()
  expect(handles.failed).toBe(1)
  expect(await isContent()).toBe(true)
})

test('a write past the page cache that fails ends the blob, and the next session continues from what was kept', async () => {
  using folder = temporaryFolder()
  const { store, key, isContent } = await openStore(folder.path)
  const writer = await store.resume(key, null)
  await write(writer, 0, 18 * MIB)
  const kept = await writer.keep()
  {
    using _ = await failingDirectWrites('ENOSPC')
    const full = { name: 'StoreFailure', reason: 'full' }
    await expect(write(writer, 18 * MIB, 20 * MIB)).rejects.toMatchObject(full)
    await writer.close()
  }
  const next = await store.resume(key, kept)
  await write(next, kept.offset, content.length)
  await next.keep()
  await next.complete()
  expect(await isContent()).toBe(true)
})

test('a blob that is removed while it is written is no failure of the store', async () => {
  using folder = temporaryFolder()
  const { store, key } = await openStore(folder.path)
  const writer = await store.resume(key, null)
  await write(writer, 0, 16 * MIB)
  await store.remove(key)
  await write(writer, 16 * MIB, 18 * MIB)
  expect(await writer.keep()).toMatchObject({ offset: 18 * MIB })
  await writer.close()
})

/** One of its writes waits until it is released. */
class HeldFile extends DirectFile {
  readonly #released = Promise.withResolvers<void>()
  #position: number | null = null

  holdAt(position: number): void {
    this.#position = position
  }

  release(): void {
    this.#released.resolve()
  }

  override async write(bytes: Uint8Array, position: number): Promise<number> {
    if (position === this.#position) await this.#released.promise
    return super.write(bytes, position)
  }
}

/** Until it goes out of scope, every write past the page cache fails so. */
async function failingDirectWrites(code: string) {
  // The class of file handles has no name to import it by.
  const handle = await files.open('/dev/null')
  const prototype: files.FileHandle = Object.getPrototypeOf(handle)
  await handle.close()
  const failing = { failed: 0, [Symbol.dispose]: () => spy.mockRestore() }
  const spy = spyOn(prototype, 'write').mockImplementation(async () => {
    failing.failed++
    throw Object.assign(new Error(code), { code })
  })
  return failing
}

import { constants, fstatSync, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { BlobKey } from '../domain/ids.ts'
import {
  assertSize,
  type BlobChunks,
  BlobDamaged,
  BlobMissing,
  type GrowingBlob,
  type KeptBlob,
} from './blob-store.ts'
import { asReadFailures, unlessMissing } from './disk-files.ts'

/** Keeps files open for a second, for a player's ranges. No longer, because a network file system must revalidate. */
export class BlobFiles {
  readonly #files = new Map<string, OpenFile>()

  /** Without `size`, the size is not checked. */
  async open(key: BlobKey, path: string, size?: number): Promise<GrowingBlob> {
    const { file, stats } = this.#stillOpen(path) ?? (await this.#opened(key, path))
    try {
      if (!stats.isFile()) throw new BlobMissing(key)
      if (size !== undefined) assertSize(key, stats.size, size)
    } catch (error) {
      file.retire()
      await file.release()
      throw error
    }
    return new BlobFile(key, file, size)
  }

  forget(path: string): void {
    this.#files.get(path)?.retire()
  }

  /** Null also for a file that was removed or replaced. */
  #stillOpen(path: string): Opened | null {
    const file = this.#files.get(path)
    if (file === undefined) return null
    const stats = fstatSync(file.handle.fd)
    if (stats.nlink === 0) {
      file.retire()
      return null
    }
    file.use()
    return { file, stats }
  }

  async #opened(key: BlobKey, path: string): Promise<Opened> {
    const handle = await asReadFailures(key, () =>
      open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(unlessMissing),
    )
    if (handle === null) throw new BlobMissing(key)
    const file = new OpenFile(handle, () => {
      if (this.#files.get(path) === file) this.#files.delete(path)
    })
    // Synchronous, because the inode is in memory: a thread would take longer.
    const stats = fstatSync(handle.fd)
    // Another reader may have opened it meanwhile.
    this.#files.get(path)?.retire()
    if (this.#files.size === MOST_OPEN) this.#files.values().next().value?.retire()
    this.#files.set(path, file)
    return { file, stats }
  }
}

const MOST_OPEN = 64
/** Milliseconds. */
const OPEN_FOR = 1000

interface Opened {
  readonly file: OpenFile
  readonly stats: Stats
}

/** Closed once retired and its last reader has ended. Begins with one reader. */
class OpenFile {
  readonly handle: FileHandle
  readonly #retired: () => void
  readonly #timer: NodeJS.Timeout
  #readers = 1
  #isRetired = false

  constructor(handle: FileHandle, retired: () => void) {
    this.handle = handle
    this.#retired = retired
    this.#timer = setTimeout(() => this.retire(), OPEN_FOR)
    this.#timer.unref()
  }

  use(): void {
    this.#readers += 1
  }

  /** Never throws. */
  release(): Promise<void> {
    this.#readers -= 1
    return this.#closeIfOver()
  }

  retire(): void {
    if (this.#isRetired) return
    this.#isRetired = true
    clearTimeout(this.#timer)
    this.#retired()
    void this.#closeIfOver()
  }

  async #closeIfOver(): Promise<void> {
    if (this.#isRetired && this.#readers === 0) await this.handle.close().catch(() => {})
  }
}

class BlobFile implements GrowingBlob {
  readonly #key: BlobKey
  readonly #file: OpenFile
  readonly #size: number | undefined

  constructor(key: BlobKey, file: OpenFile, size: number | undefined) {
    this.#key = key
    this.#file = file
    this.#size = size
  }

  readInto(start: number, target: Uint8Array): Promise<void> {
    return asReadFailures(this.#key, async () => {
      for (let filled = 0; filled < target.length; ) {
        const position = start + filled
        const { bytesRead } = await this.#file.handle.read(target, filled, target.length - filled, position)
        if (bytesRead === 0) throw this.#endsAt(position)
        filled += bytesRead
      }
    })
  }

  async readableFrom(_start: number, { offset }: KeptBlob): Promise<number> {
    return offset
  }

  close(): Promise<void> {
    return this.#file.release()
  }

  #endsAt(position: number): Error {
    if (this.#size !== undefined && position < this.#size) {
      return new BlobDamaged(this.#key, position, this.#size)
    }
    return new Error(`blob ${this.#key} ends at ${position}`)
  }
}

/** Bytes. A short body, or a player's range, is one read and one write. */
const LONGEST_CHUNK = 1024 * 1024

/** A range of an open file, which it closes. */
export class FileChunks implements BlobChunks {
  readonly #file: Pick<GrowingBlob, 'readInto' | 'close'>
  readonly #end: number
  readonly #buffers: Uint8Array[] = []
  #position: number
  #chunks = 0
  #isReading = false
  #isCancelled = false
  #isClosed = false

  constructor(file: Pick<GrowingBlob, 'readInto' | 'close'>, start: number, end: number) {
    this.#file = file
    this.#position = start
    this.#end = end
  }

  async next(): Promise<Uint8Array | null> {
    const left = Math.min(LONGEST_CHUNK, this.#end - this.#position)
    if (left <= 0 || this.#isClosed) {
      this.#close()
      return null
    }
    const buffer = this.#buffer(left)
    const length = Math.min(left, buffer.byteLength)
    const chunk = buffer.subarray(0, length)
    const position = this.#position
    this.#position += length
    this.#isReading = true
    try {
      await this.#file.readInto(position, chunk)
    } catch (error) {
      this.#isCancelled = true
      throw error
    } finally {
      this.#isReading = false
      if (this.#isCancelled || this.#position === this.#end) this.#close()
    }
    return chunk
  }

  async readAll(target: Uint8Array): Promise<void> {
    try {
      await this.#file.readInto(this.#position, target)
    } finally {
      this.#close()
    }
  }

  cancel(): void {
    this.#isCancelled = true
    for (const buffer of this.#buffers.splice(0)) dropBuffer(buffer)
    if (!this.#isReading) this.#close()
  }

  release(): void {
    for (const buffer of this.#buffers.splice(0)) giveBuffer(buffer)
  }

  /** Double buffering: one is filled while the other is sent. */
  #buffer(length: number): Uint8Array {
    const turn = this.#chunks++ % 2
    this.#buffers[turn] ??= takeBuffer(length)
    return this.#buffers[turn]
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    void this.#file.close()
  }
}

/** Powers of two, so that sizes are few. */
const SMALLEST = 16 * 1024

const MOST_IDLE = 16 * 1024 * 1024

/** Bytes in use above which buffers are small: thousands of slow receivers must not fill the memory. */
const MOST_USED = 64 * 1024 * 1024
const SMALL = 64 * 1024

const idle = new Map<number, Uint8Array[]>()
let idleBytes = 0
let usedBytes = 0

/** Any content; smaller under pressure. Reused: the system clears fresh memory by pages. Must be given or dropped. */
function takeBuffer(bytes: number): Uint8Array {
  const wanted = Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(bytes)))
  const size = usedBytes + wanted > MOST_USED ? Math.min(wanted, SMALL) : wanted
  usedBytes += size
  const buffer = idle.get(size)?.pop()
  if (buffer === undefined) return new Uint8Array(size)
  idleBytes -= size
  return buffer
}

/** For a buffer that may still be read: it is not reused. */
function dropBuffer(buffer: Uint8Array): void {
  usedBytes -= buffer.byteLength
}

/** The caller must not use it any more. */
function giveBuffer(buffer: Uint8Array): void {
  const size = buffer.byteLength
  usedBytes -= size
  if (idleBytes + size > MOST_IDLE) return
  const same = idle.get(size)
  if (same === undefined) idle.set(size, [buffer])
  else same.push(buffer)
  idleBytes += size
}

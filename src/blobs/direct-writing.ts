import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { hasCode } from './disk-files.ts'

/** Alignment of address, length and position of a direct write: enough for every known disk. */
const PAGE = 4096

/** Position of the first direct write: the beginning of a file, and all of a small one, is read soon. */
const FROM = 16 * 1024 * 1024

/** Writes past the page cache (O_DIRECT of open(2)), unless the file system refuses it. */
export class DirectWriting {
  /** The flag is 0 or undefined where the system has none. */
  #isRefused = !constants.O_DIRECT

  start(path: string): DirectFile {
    return new DirectFile(this, path)
  }

  /**
   * Whether the bytes may be written past the page cache. Shared memory is aligned to pages; the address of other memory is
   * unknown.
   */
  mayTake(bytes: Uint8Array, position: number): boolean {
    if (this.#isRefused || position < FROM || bytes.byteLength === 0) return false
    if (!(bytes.buffer instanceof SharedArrayBuffer)) return false
    return [position, bytes.byteOffset, bytes.byteLength].every((number) => number % PAGE === 0)
  }

  /** The result of the work; null where the file system refuses direct writes, which are not tried again then. */
  async unlessRefused<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      if (!hasCode(error, 'EINVAL')) throw error
      this.#isRefused = true
      return null
    }
  }
}

/** A second handle of a file, for writes past the page cache. */
export class DirectFile {
  readonly #writing: DirectWriting
  readonly #path: string
  /** Null where it cannot be opened: the file may have been removed, which does not affect the other handle. */
  #handle: Promise<FileHandle | null> | null = null

  constructor(writing: DirectWriting, path: string) {
    this.#writing = writing
    this.#path = path
  }

  mayTake(bytes: Uint8Array, position: number): boolean {
    return this.#writing.mayTake(bytes, position)
  }

  /** Returns how many bytes were written; the rest is for the other handle. They are not durable before a sync. */
  async write(bytes: Uint8Array, position: number): Promise<number> {
    this.#handle ??= this.#open()
    const handle = await this.#handle
    if (handle === null) return 0
    const written = await this.#writing.unlessRefused(() =>
      handle.write(bytes, 0, bytes.byteLength, position),
    )
    return written?.bytesWritten ?? 0
  }

  #open(): Promise<FileHandle | null> {
    return this.#writing
      .unlessRefused(() => open(this.#path, constants.O_WRONLY | constants.O_DIRECT))
      .catch(() => null)
  }

  /** Never throws. No write may be pending. */
  async close(): Promise<void> {
    const handle = await this.#handle
    this.#handle = null
    await handle?.close().catch(() => {})
  }
}

import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { hasCode } from './disk-files.ts'

/** What memory, length and place of a direct write are multiples of, on every disk we know. */
const PAGE = 4096

/** What comes before is written as ever: the beginning of a file is read soon, and of a small one all of it. */
const FROM = 16 * 1024 * 1024

/** Writes past the page cache (O_DIRECT of open(2)), as long as the file system lets us. */
export class DirectWriting {
  /** Where there is no such flag, it is 0 or missing. */
  #isRefused = !constants.O_DIRECT

  start(path: string): DirectFile {
    return new DirectFile(this, path)
  }

  /**
   * Whether the bytes may be written so. Memory that threads share comes from the system by the page; of other memory
   * nobody knows where it lies.
   */
  mayTake(bytes: Uint8Array, position: number): boolean {
    if (this.#isRefused || position < FROM || bytes.byteLength === 0) return false
    if (!(bytes.buffer instanceof SharedArrayBuffer)) return false
    return [position, bytes.byteOffset, bytes.byteLength].every((number) => number % PAGE === 0)
  }

  /** What the work gives; null where the file system refuses it, which is then asked for no more. */
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

/** One file that is also written as ever, through another handle. */
export class DirectFile {
  readonly #writing: DirectWriting
  readonly #path: string
  /** Null where it cannot be opened: it may be removed while it is written, which the other handle does not notice. */
  #handle: Promise<FileHandle | null> | null = null

  constructor(writing: DirectWriting, path: string) {
    this.#writing = writing
    this.#path = path
  }

  mayTake(bytes: Uint8Array, position: number): boolean {
    return this.#writing.mayTake(bytes, position)
  }

  /** Answers how many of the bytes were written: the rest is for the other handle. They are not safe before a sync. */
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

  /** Never throws. Nothing may be being written. */
  async close(): Promise<void> {
    const handle = await this.#handle
    this.#handle = null
    await handle?.close().catch(() => {})
  }
}

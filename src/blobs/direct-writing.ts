import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { hasCode } from './disk-files.ts'

/** Alignment of address, length and position: enough for every known disk. */
const PAGE = 4096

/** Bytes before it stay cached: the beginning of a file is likely to be read soon. */
const FROM = 16 * 1024 * 1024

export class DirectWriting {
  #isRefused = !constants.O_DIRECT

  start(path: string): DirectFile {
    return new DirectFile(this, path)
  }

  /** Shared memory is aligned to pages; other memory may not be. */
  mayTake(bytes: Uint8Array, position: number): boolean {
    if (this.#isRefused || position < FROM || bytes.byteLength === 0) return false
    if (!(bytes.buffer instanceof SharedArrayBuffer)) return false
    return [position, bytes.byteOffset, bytes.byteLength].every((number) => number % PAGE === 0)
  }

  /** Null where the file system refuses O_DIRECT, which is not tried again. */
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

export class DirectFile {
  readonly #writing: DirectWriting
  readonly #path: string
  /** Null where opening fails: a removed file does not affect the other handle. */
  #handle: Promise<FileHandle | null> | null = null

  constructor(writing: DirectWriting, path: string) {
    this.#writing = writing
    this.#path = path
  }

  mayTake(bytes: Uint8Array, position: number): boolean {
    return this.#writing.mayTake(bytes, position)
  }

  /** Returns the bytes written; the rest is for the other handle. Not durable before a sync. */
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

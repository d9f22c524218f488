import { constants, fstatSync, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { BlobKey } from '../domain/ids.ts'
import { assertSize, BlobDamaged, BlobMissing, type GrowingBlob, type KeptBlob } from './blob-store.ts'
import { asReadFailures, unlessMissing } from './disk-files.ts'

/**
 * Files open for reading. One stays open for a second, for further reads of the same blob, such as ranges that a player asks
 * for: to open and to close a file on another thread takes longer than to read a mebibyte of it from memory. No longer
 * than that, because a file system on the network must be asked again what it is.
 */
export class BlobFiles {
  readonly #files = new Map<string, OpenFile>()

  /** Implements `BlobStore.open` and `openGrowing` for the blob in the file `path`. An unknown size is not checked. */
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

  /** Implements `BlobStore.readInto` for the blob in the file `path`. */
  async fill(key: BlobKey, path: string, start: number, target: Uint8Array, size?: number): Promise<void> {
    const blob = await this.open(key, path, size)
    try {
      await blob.readInto(start, target)
    } finally {
      await blob.close()
    }
  }

  /** Called when the file is removed, whose space is free once it is closed. */
  forget(path: string): void {
    this.#files.get(path)?.retire()
  }

  /** Null also for a file that was removed, and perhaps replaced. */
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
    // Synchronous, because the inode is in memory now: a call on another thread would take longer.
    const stats = fstatSync(handle.fd)
    // Another reader may have opened it meanwhile.
    this.#files.get(path)?.retire()
    if (this.#files.size === MOST_OPEN) this.#files.values().next().value?.retire()
    this.#files.set(path, file)
    return { file, stats }
  }
}

/** Files that stay open without a reader. */
const MOST_OPEN = 64
/** Milliseconds after its opening for which a file gets further readers. */
const OPEN_FOR = 1000

interface Opened {
  readonly file: OpenFile
  readonly stats: Stats
}

/** A file that is closed when it gets no further readers and the last one has ended. Begins with one reader. */
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

  /** Ends one reader. Never throws. */
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

  /** The file was truncated after it was opened, unless the caller asks for more than there ever was. */
  #endsAt(position: number): Error {
    if (this.#size !== undefined && position < this.#size) {
      return new BlobDamaged(this.#key, position, this.#size)
    }
    return new Error(`blob ${this.#key} ends at ${position}`)
  }
}

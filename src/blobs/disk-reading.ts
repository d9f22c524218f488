import { constants, fstatSync, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { BlobKey } from '../domain/ids.ts'
import { assertSize, BlobDamaged, BlobMissing, type GrowingBlob, type KeptBlob } from './blob-store.ts'
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

  async fill(key: BlobKey, path: string, start: number, target: Uint8Array, size?: number): Promise<void> {
    const blob = await this.open(key, path, size)
    try {
      await blob.readInto(start, target)
    } finally {
      await blob.close()
    }
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

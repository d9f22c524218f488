import type { BlobKey, BlobProgress } from '../domain/ids.ts'
import { assertInvariant } from '../domain/invariants.ts'
import { assertSize, BlobMissing, type KeptBlob, type ResumableWriter } from './blob-store.ts'
import { completedBlob } from './completed-blob.ts'
import type { DirectWriting } from './direct-writing.ts'
import { asDiskFailures, sizeOfFile, syncDirectory, WritableFile } from './disk-files.ts'
import type { DiskLayout } from './disk-layout.ts'
import { GrowingFile } from './growing-file.ts'
import { assertAllKept } from './removal.ts'

interface DiskSessionParts {
  readonly layout: DiskLayout
  readonly direct: DirectWriting
  readonly mode: number
}

/** A constant: the offset and the file suffice to continue. */
const PROGRESS = 'disk' as BlobProgress

export async function resumeOnDisk(
  parts: DiskSessionParts,
  key: BlobKey,
  kept: KeptBlob | null,
): Promise<ResumableWriter> {
  const path = parts.layout.growing(key)
  if (kept === null) {
    const created = await asDiskFailures(() => WritableFile.create(path, parts.mode))
    return new DiskSession(parts, key, created, null)
  }
  const handle = await asDiskFailures(() => WritableFile.existing(path))
  if (handle === null) return completedFile(parts.layout, key, kept)
  try {
    // Bytes that were written and not kept may be garbage after a power cut.
    await asDiskFailures(() => handle.cutTo(kept.offset, key))
  } catch (error) {
    handle.close()
    throw error
  }
  return new DiskSession(parts, key, handle, kept)
}

async function completedFile(layout: DiskLayout, key: BlobKey, kept: KeptBlob): Promise<ResumableWriter> {
  const size = await sizeOfFile(layout.finished(key), key)
  if (size === null) throw new BlobMissing(key)
  assertSize(key, size, kept.offset)
  return completedBlob(kept, () => asDiskFailures(() => syncDirectory(layout.shard(key))))
}

class DiskSession implements ResumableWriter {
  readonly #layout: DiskLayout
  readonly #key: BlobKey
  readonly #handle: WritableFile
  readonly #file: GrowingFile
  #kept: KeptBlob | null
  /** Whether the file's name is durable or need not be. */
  #isNameDurable: boolean

  constructor(
    { layout, direct }: DiskSessionParts,
    key: BlobKey,
    handle: WritableFile,
    kept: KeptBlob | null,
  ) {
    this.#layout = layout
    this.#key = key
    this.#handle = handle
    this.#kept = kept
    this.#isNameDurable = kept !== null
    const path = layout.growing(key)
    this.#file = new GrowingFile({
      handle,
      path,
      direct: direct.start(path),
      sync: () => this.#sync(),
      from: kept?.offset ?? 0,
    })
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.#file.write(chunk)
  }

  async keep(): Promise<KeptBlob> {
    if (this.#kept?.offset !== this.#file.position) await this.#file.sync()
    const { position, synced } = this.#file
    await asDiskFailures(async () =>
      assertInvariant('kept-is-written', synced === position, () => `${synced} synced, ${position} written`),
    )
    this.#kept = { offset: position, progress: PROGRESS }
    return this.#kept
  }

  safe(): KeptBlob | null {
    const { synced } = this.#file
    if (synced <= (this.#kept?.offset ?? 0)) return null
    this.#kept = { offset: synced, progress: PROGRESS }
    return this.#kept
  }

  async makeReadable(): Promise<void> {}

  async complete(): Promise<number> {
    assertAllKept(this.#kept, this.#file.position)
    this.#isNameDurable = true
    if (this.#kept === null) await this.#file.sync()
    return asDiskFailures(() => this.#file.publish(this.#layout, this.#key))
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  /** A new file also needs its name durable. */
  async #sync(): Promise<void> {
    await this.#handle.datasync()
    if (!this.#isNameDurable) await syncDirectory(this.#layout.resumable)
    this.#isNameDurable = true
  }
}

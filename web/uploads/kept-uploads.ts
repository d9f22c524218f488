import { isUnchanged } from './file-changes.ts'
import type { FileHandle } from './file-handles.ts'
import { newId } from './new-id.ts'
import type { Created } from './server.ts'
import type { Target } from './upload-item.ts'
import { KEPT_FOR, type StoredUpload, type UploadStore } from './upload-store.ts'

const MIB = 1024 ** 2

/** Bytes up to which the browser keeps a file, so that its upload resumes after a reload. */
const LARGEST_CONTENT = 64 * MIB
/** Bytes, for all uploads of a window. */
const MOST_CONTENTS = 512 * MIB
/** Milliseconds between two writes of an upload's progress to disk. */
const NOTED_EVERY = 500

export interface KeptUpload extends Omit<StoredUpload, 'window' | 'expires'> {
  /** Null when the page has no file to read. */
  readonly file: Blob | null
  readonly origin: FileOrigin
}

/**
 * `chosen` for this upload; `found` after a reload, by a handle or as a copy; or `given` by the user as
 * matching.
 */
export type FileOrigin = 'chosen' | 'found' | 'given'

interface NewlyKept {
  readonly file: File
  readonly handle: FileHandle | null
  readonly target: Target
  /** Of an upload begun elsewhere. */
  readonly created: Created | null
}

/** The window's unfinished uploads: in memory, with every change written to the store. */
export class KeptUploads {
  readonly #store: UploadStore
  readonly #window: string
  readonly #uploads = new Map<string, KeptUpload>()
  /** Uploads with stored content. */
  readonly #contents = new Set<string>()
  /** When `sent` was last written, by `performance.now()`. */
  readonly #notedAt = new Map<string, number>()

  private constructor(store: UploadStore, window: string) {
    this.#store = store
    this.#window = window
  }

  static async open(store: UploadStore, window: string): Promise<KeptUploads> {
    const kept = new KeptUploads(store, window)
    for (const { upload, content } of await store.load(window, Date.now())) {
      const { window: _, expires, ...rest } = upload
      kept.#uploads.set(upload.id, { ...rest, file: content, origin: 'found' })
      if (content !== null) kept.#contents.add(upload.id)
    }
    return kept
  }

  list(): readonly KeptUpload[] {
    return [...this.#uploads.values()]
  }

  find(id: string): KeptUpload | null {
    return this.#uploads.get(id) ?? null
  }

  add({ file, handle, target, created }: NewlyKept): KeptUpload {
    const { name, type, size, lastModified } = file
    const { folder, path } = target
    const about = { name, type, size, lastModified, folder, path }
    const origin: FileOrigin = created === null ? 'chosen' : 'given'
    const upload = { id: newId(), ...about, created, isPaused: false, sent: 0, handle, file, origin }
    this.#set(upload)
    this.#keepContent(upload.id, file)
    return upload
  }

  give(id: string, file: Blob, origin: FileOrigin): void {
    this.#change(id, { file, origin })
    this.#keepContent(id, file)
  }

  takeBack(id: string): void {
    this.#change(id, { file: null })
    this.#dropContent(id)
  }

  setCreated(id: string, created: Created | null): void {
    this.#change(id, { created })
  }

  setPaused(id: string, isPaused: boolean): void {
    if (this.find(id)?.isPaused !== isPaused) this.#change(id, { isPaused })
  }

  /** For the next page to show before the server answers. */
  noteSent(id: string, sent: number): void {
    const now = performance.now()
    if (now - (this.#notedAt.get(id) ?? Number.NEGATIVE_INFINITY) < NOTED_EVERY) return
    this.#notedAt.set(id, now)
    this.#change(id, { sent })
  }

  /** Leaves the server's bytes alone. */
  remove(id: string): void {
    this.#uploads.delete(id)
    this.#contents.delete(id)
    this.#notedAt.delete(id)
    this.#store.remove(id)
  }

  #change(id: string, patch: Partial<KeptUpload>): void {
    const upload = this.#uploads.get(id)
    if (upload !== undefined) this.#set({ ...upload, ...patch })
  }

  #set(upload: KeptUpload): void {
    this.#uploads.set(upload.id, upload)
    const { file: _, origin, ...rest } = upload
    this.#store.put({ ...rest, window: this.#window, expires: Date.now() + KEPT_FOR })
  }

  #keepContent(id: string, content: Blob): void {
    if (this.#contents.has(id) || content.size > LARGEST_CONTENT) return
    const kept = [...this.#contents].reduce((sum, each) => sum + (this.find(each)?.size ?? 0), 0)
    if (kept + content.size > MOST_CONTENTS) return
    this.#contents.add(id)
    this.#store.putContent(id, content, async () => {
      // A file overwritten while the browser copied it may be a mixture.
      const upload = this.find(id)
      if (upload === null || (await isUnchanged({ file: content, handle: upload.handle }))) return
      this.#dropContent(id)
    })
  }

  #dropContent(id: string): void {
    this.#contents.delete(id)
    this.#store.removeContent(id)
  }
}

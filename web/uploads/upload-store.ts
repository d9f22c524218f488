import { DAY, SECOND } from '../../src/domain/clock.ts'
import { type FileHandle, isHandle } from './file-handles.ts'
import { requestResult } from './indexeddb-request.ts'
import type { Created } from './server.ts'
import type { Target } from './upload-item.ts'

export interface StoredUpload extends Target {
  readonly id: string
  readonly window: string
  readonly name: string
  readonly type: string
  /** Bytes. */
  readonly size: number
  /** Milliseconds since 1970; identifies the file with name and size. */
  readonly lastModified: number
  /** Null until the server has created the upload. */
  readonly created: Created | null
  readonly isPaused: boolean
  readonly sent: number
  /** Null where the browser has none. */
  readonly handle: FileHandle | null
  /** Milliseconds since 1970. */
  readonly expires: number
}

export interface LeftUpload {
  readonly upload: StoredUpload
  /** Null for a file too large to keep. */
  readonly content: Blob | null
}

/** The server's default for unfinished uploads; milliseconds. */
export const KEPT_FOR = DAY

const DATABASE = 'holdfast-uploads'
const UPLOADS = 'uploads'
const CONTENTS = 'contents'
/** Then the page goes on without what the browser stored. */
const LONGEST_OPENING = 5 * SECOND

/** Best effort: without storage or space, uploads end with their page. Writes are in call order. */
export class UploadStore {
  readonly #database: IDBDatabase | null

  private constructor(database: IDBDatabase | null) {
    this.#database = database
  }

  static async open(): Promise<UploadStore> {
    const late = new Promise<null>((resolve) => setTimeout(resolve, LONGEST_OPENING, null))
    const database = await Promise.race([openDatabase().catch(() => null), late])
    return new UploadStore(database)
  }

  async load(window: string, now: number): Promise<readonly LeftUpload[]> {
    try {
      const all = await this.#read<unknown[]>(UPLOADS, (store) => store.getAll())
      const uploads = (all ?? []).filter(isStoredUpload)
      for (const { id, expires } of uploads) if (expires <= now) this.remove(id)
      const own = uploads.filter((upload) => upload.window === window && upload.expires > now)
      return await Promise.all(
        own.map(async (upload) => ({ upload, content: await this.#content(upload.id) })),
      )
    } catch {
      return []
    }
  }

  put(upload: StoredUpload): void {
    this.#write((transaction) => transaction.objectStore(UPLOADS).put(upload))
  }

  /** `copied`: called when the browser has read the whole content. */
  putContent(id: string, content: Blob, copied: () => void = () => {}): void {
    this.#write((transaction) => {
      transaction.objectStore(CONTENTS).put(content, id)
      transaction.addEventListener('complete', copied)
    })
  }

  removeContent(id: string): void {
    this.#write((transaction) => transaction.objectStore(CONTENTS).delete(id))
  }

  remove(id: string): void {
    this.#write((transaction) => {
      transaction.objectStore(UPLOADS).delete(id)
      transaction.objectStore(CONTENTS).delete(id)
    })
  }

  async #content(id: string): Promise<Blob | null> {
    const content = await this.#read<unknown>(CONTENTS, (store) => store.get(id))
    return content instanceof Blob ? content : null
  }

  async #read<T>(name: string, ask: (store: IDBObjectStore) => IDBRequest<T>): Promise<T | null> {
    if (this.#database === null) return null
    return requestResult(ask(this.#database.transaction(name).objectStore(name)))
  }

  #write(act: (transaction: IDBTransaction) => void): void {
    try {
      if (this.#database !== null) act(this.#database.transaction([UPLOADS, CONTENTS], 'readwrite'))
    } catch {
      // The browser closed the database or refuses the value.
    }
  }
}

async function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1)
  request.onupgradeneeded = () => {
    request.result.createObjectStore(UPLOADS, { keyPath: 'id' })
    request.result.createObjectStore(CONTENTS)
  }
  const database = await requestResult(request)
  // A page of a later version must not wait for this one.
  database.onversionchange = () => database.close()
  return database
}

/** Whether it is what `put` wrote: another version of the page may have kept something else. */
function isStoredUpload(value: unknown): value is StoredUpload {
  const upload = storedFields(value)
  const isText = (key: string) => typeof upload[key] === 'string'
  const isNumber = (key: string) => typeof upload[key] === 'number'
  return (
    ['id', 'window', 'name', 'type'].every(isText) &&
    ['size', 'lastModified', 'sent', 'expires'].every(isNumber) &&
    ['folder', 'path'].every((key) => upload[key] === null || isText(key)) &&
    typeof upload.isPaused === 'boolean' &&
    (upload.handle === null || isHandle(upload.handle)) &&
    (upload.created === null || isCreated(upload.created))
  )
}

function isCreated(value: unknown): value is Created {
  const { address, link, receipt } = storedFields(value)
  return (
    typeof address === 'string' &&
    typeof link === 'string' &&
    (receipt === undefined || typeof receipt === 'string')
  )
}

/** The fields of a value that somebody else may have written; none where it is no object. */
function storedFields(value: unknown): Readonly<Partial<Record<string, unknown>>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

import { isHandle } from './file-handles.ts'
import { requestResult } from './indexeddb-request.ts'
import {
  isStoredUpload,
  KEPT_FOR,
  type StoredUpload,
  storedFields,
  type UploadStore,
} from './upload-store.ts'

/**
 * Takes over the uploads that a page of a former version has left, which kept them by Uppy's Golden Retriever. They
 * expired after a day, so this file can go with the version after the next.
 */
export async function migrateFromUppy(store: UploadStore, window: string): Promise<void> {
  try {
    const database = await openExisting('uppy-blobs')
    if (database === null) return
    const handles = await handlesOf(window)
    const contents = await contentsOf(database, window)
    for (const upload of await uploadsOf(database, window, handles)) {
      store.put(upload)
      const content = contents.get(upload.id)
      if (content !== undefined) store.putContent(upload.id, content)
    }
    await forget(database, window)
  } catch {
    // They are lost as after a day: the server deletes what has arrived, and the file can be uploaded anew.
  }
}

async function uploadsOf(
  database: IDBDatabase,
  window: string,
  handles: ReadonlyMap<string, unknown>,
): Promise<readonly StoredUpload[]> {
  const request: IDBRequest<unknown> = database.transaction(RECORDS).objectStore(RECORDS).get(window)
  const { expires, metadata } = storedFields(await requestResult(request))
  if (typeof expires !== 'number' || expires < Date.now() || typeof metadata !== 'string') return []
  const { files } = storedFields(JSON.parse(metadata))
  return Object.entries(storedFields(files))
    .map(([id, file]) => asStored({ id, window, file, handle: handles.get(id) ?? null }))
    .filter(isStoredUpload)
}

/** As Uppy calls them. */
const RECORDS = 'metadata'
const CONTENTS = 'files'

function asStored({
  id,
  window,
  file,
  handle,
}: {
  readonly id: string
  readonly window: string
  readonly file: unknown
  readonly handle: unknown
}): unknown {
  const { name, type, size, meta, isPaused, progress } = storedFields(file)
  const { lastModified, path = null, folder = null, created = null } = storedFields(meta)
  const { bytesUploaded } = storedFields(progress)
  return {
    ...{ id, window, name, type, size, lastModified, path, folder, created, handle },
    isPaused: isPaused === true,
    sent: typeof bytesUploaded === 'number' ? bytesUploaded : 0,
    expires: Date.now() + KEPT_FOR,
  }
}

async function contentsOf(database: IDBDatabase, window: string): Promise<ReadonlyMap<string, Blob>> {
  const request: IDBRequest<unknown[]> = database
    .transaction(CONTENTS)
    .objectStore(CONTENTS)
    .index('store')
    .getAll(window)
  const found = new Map<string, Blob>()
  for (const record of await requestResult(request)) {
    const { fileID, data } = storedFields(record)
    if (typeof fileID === 'string' && data instanceof Blob) found.set(fileID, data)
  }
  return found
}

/** Handles were in a database for each window. */
async function handlesOf(window: string): Promise<ReadonlyMap<string, unknown>> {
  const name = `holdfast-${window}`
  const database = await openExisting(name)
  const found = new Map<string, unknown>()
  if (database === null) return found
  const store = database.transaction('handles').objectStore('handles')
  const [keys, handles]: [IDBValidKey[], unknown[]] = await Promise.all([
    requestResult(store.getAllKeys()),
    requestResult<unknown[]>(store.getAll()),
  ])
  for (const [at, key] of keys.entries()) if (isHandle(handles[at])) found.set(String(key), handles[at])
  database.close()
  indexedDB.deleteDatabase(name)
  return found
}

/** Deletes what was of this window, and what has expired of others; the database with the last of it. */
async function forget(database: IDBDatabase, window: string): Promise<void> {
  const transaction = database.transaction([RECORDS, CONTENTS], 'readwrite')
  let left = 0
  await Promise.all([
    each(transaction.objectStore(RECORDS), 'id'),
    each(transaction.objectStore(CONTENTS), 'store'),
  ])
  database.close()
  if (left === 0) indexedDB.deleteDatabase(database.name)

  function each(store: IDBObjectStore, owner: 'id' | 'store'): Promise<void> {
    return new Promise((resolve, reject) => {
      const request = store.openCursor()
      request.onerror = () => reject(request.error)
      request.onsuccess = () => {
        const cursor = request.result
        if (cursor === null) return resolve()
        const record = storedFields(cursor.value)
        const isOver = typeof record.expires !== 'number' || record.expires < Date.now()
        if (isOver || record[owner] === window) cursor.delete()
        else left += 1
        cursor.continue()
      }
    })
  }
}

/** Null when there is none; makes none. */
async function openExisting(name: string): Promise<IDBDatabase | null> {
  const request = indexedDB.open(name)
  request.onupgradeneeded = () => request.transaction?.abort()
  return requestResult(request).catch(() => null)
}

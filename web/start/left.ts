import { settled } from './settled.ts'

/**
 * Whether Golden Retriever has something to restore under a name. It tells when it has restored something, and nothing
 * when there was nothing: only its own record tells the two apart. What is noted elsewhere can be gone after a crash when
 * the record is not; browsers write `localStorage` seconds late.
 */
export async function hasLeft(name: string): Promise<boolean> {
  try {
    const database = await open()
    const request: IDBRequest<unknown> = database.transaction(RECORDS).objectStore(RECORDS).get(name)
    const isLeft = isFresh(await settled(request))
    database.close()
    return isLeft
  } catch {
    // Nothing was ever kept here, or nothing can be.
    return false
  }
}

/** As the plugin calls them. */
const DATABASE = 'uppy-blobs'
const RECORDS = 'metadata'

/** Throws when there is none, and makes none. */
function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE)
  request.onupgradeneeded = () => request.transaction?.abort()
  return settled(request)
}

function isFresh(record: unknown): boolean {
  if (typeof record !== 'object' || record === null || !('expires' in record)) return false
  return typeof record.expires === 'number' && record.expires >= Date.now()
}

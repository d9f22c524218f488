import { settled } from './settled.ts'

/**
 * Handles of chosen files, kept over a reload by the browsers that have them (the File System Access API): with one the
 * same file can be read again, large as it is, after the person has said yes once.
 */

/** What TypeScript's own types leave out. */
export interface FileHandle extends FileSystemFileHandle {
  queryPermission?(wanted: { mode: 'read' }): Promise<PermissionState>
  requestPermission?(wanted: { mode: 'read' }): Promise<PermissionState>
}

export interface FileHandles {
  keep(id: string, handle: FileHandle): Promise<void>
  find(id: string): Promise<FileHandle | null>
  forget(id: string): Promise<void>
}

const STORE = 'handles'

/** Everything is best effort: without a handle the person is asked for the file. */
export function createFileHandles(name: string): FileHandles {
  let opened: Promise<IDBDatabase> | null = null

  async function within<T>(
    mode: IDBTransactionMode,
    request: (store: IDBObjectStore) => IDBRequest<T>,
  ): Promise<T | null> {
    try {
      opened ??= open(name)
      return await settled(request((await opened).transaction(STORE, mode).objectStore(STORE)))
    } catch {
      return null
    }
  }

  return {
    async keep(id, handle) {
      await within('readwrite', (store) => store.put(handle, id))
    },
    async find(id) {
      const found = await within<unknown>('readonly', (store) => store.get(id))
      return isHandle(found) ? found : null
    },
    async forget(id) {
      await within('readwrite', (store) => store.delete(id))
    },
  }
}

/** Whether the file may be read. `ask`: in a click, when the browser may show its question. */
export async function mayRead(handle: FileHandle, ask: boolean): Promise<boolean> {
  try {
    const state = (await handle.queryPermission?.({ mode: 'read' })) ?? 'granted'
    if (state === 'granted' || !ask) return state === 'granted'
    return (await handle.requestPermission?.({ mode: 'read' })) === 'granted'
  } catch {
    return false
  }
}

function isHandle(value: unknown): value is FileHandle {
  return typeof FileSystemFileHandle !== 'undefined' && value instanceof FileSystemFileHandle
}

function open(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1)
  request.onupgradeneeded = () => request.result.createObjectStore(STORE)
  return settled(request)
}

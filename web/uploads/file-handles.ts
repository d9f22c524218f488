/**
 * Handles of chosen files (the File System Access API), where the browser has them: with one the same file can be read
 * again after a reload, large as it is, after the person has said yes once.
 */

/** What TypeScript's own types leave out. */
export interface FileHandle extends FileSystemFileHandle {
  queryPermission?(wanted: { mode: 'read' }): Promise<PermissionState>
  requestPermission?(wanted: { mode: 'read' }): Promise<PermissionState>
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

export function isHandle(value: unknown): value is FileHandle {
  return typeof FileSystemFileHandle !== 'undefined' && value instanceof FileSystemFileHandle
}

/** The File System Access API: re-reads a file of any size after a reload, once the user permits it. */

/** Missing in TypeScript's types. */
export interface FileHandle extends FileSystemFileHandle {
  queryPermission?(wanted: { mode: 'read' }): Promise<PermissionState>
  requestPermission?(wanted: { mode: 'read' }): Promise<PermissionState>
}

/** `ask`: within a click, when the browser may ask the user. */
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

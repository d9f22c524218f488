import type { FileHandle } from './file-handles.ts'

/** A file as it was chosen, and what leads to it as it is now. */
export interface WatchedFile {
  readonly file: Blob
  /** Null where the browser has none. */
  readonly handle: FileHandle | null
}

/**
 * Whether the file still is as it was chosen, as far as a browser tells. Browsers hold the date of a file against the one
 * that it was chosen with when they open it to read, to the second, and never while they read.
 */
export async function isUnchanged({ file, handle }: WatchedFile): Promise<boolean> {
  try {
    await file.slice(0, 1).arrayBuffer()
  } catch {
    return false
  }
  if (handle === null || !(file instanceof File)) return true
  // One that is gone, or may not be asked for any more, tells nothing: the bytes may be a copy that the browser keeps.
  const now = await handle.getFile().catch(() => null)
  return now === null || (now.size === file.size && now.lastModified === file.lastModified)
}

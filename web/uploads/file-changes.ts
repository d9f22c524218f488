import type { FileHandle } from './file-handles.ts'

export interface WatchedFile {
  readonly file: Blob
  readonly handle: FileHandle | null
}

/**
 * As far as browsers tell: they compare a file's date, to the second, when they open it, never while they
 * read.
 */
export async function isUnchanged({ file, handle }: WatchedFile): Promise<boolean> {
  try {
    await file.slice(0, 1).arrayBuffer()
  } catch {
    return false
  }
  if (handle === null || !(file instanceof File)) return true
  // A missing file, or a revoked permission, proves nothing: the bytes may be the browser's copy.
  const now = await handle.getFile().catch(() => null)
  return now === null || (now.size === file.size && now.lastModified === file.lastModified)
}

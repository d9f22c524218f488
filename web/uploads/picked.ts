import type { FileHandle } from './file-handles.ts'

/** A file that a person has chosen, dropped or pasted. */
export interface Picked {
  readonly file: File
  /** With it the file can be read again after a reload; null where the browser has none. */
  readonly handle: FileHandle | null
  /** Its path inside the folder that was dropped; null for a file by itself. */
  readonly path: string | null
}

/** `folder`: where it goes; null for the top level, or where there are no folders. */
export interface PickedTarget {
  readonly picked: Picked
  readonly folder: string | null
}

export function byItself(file: File): Picked {
  return { file, handle: null, path: null }
}

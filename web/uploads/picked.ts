import type { FileHandle } from './file-handles.ts'

export interface Picked {
  readonly file: File
  /** Permits reading the file after a reload; null where the browser has none. */
  readonly handle: FileHandle | null
  /** Path inside a dropped folder. */
  readonly path: string | null
}

export interface PickedTarget {
  readonly picked: Picked
  readonly folder: string | null
}

export function byItself(file: File): Picked {
  return { file, handle: null, path: null }
}

import type { OtherFile } from './upload-item.ts'

/** What is known of the file of an upload. */
export interface KnownFile {
  readonly name: string
  readonly size: number
  /** Milliseconds since 1970; null where nobody has said it. */
  readonly lastModified: number | null
}

/** Whether it is the very file, as far as a browser tells: two versions must not be joined into one that never was. */
export function isSame(file: File, known: KnownFile): boolean {
  const isAsOld = known.lastModified === null || file.lastModified === known.lastModified
  return hasNameAndSize(file, known) && isAsOld
}

/** What a person is told who has chosen another file. */
export function otherThan(known: KnownFile, file: File): OtherFile {
  return { name: file.name, size: file.size, isNewer: hasNameAndSize(file, known) }
}

/** Systems write letters with marks in different ways; the server in one. */
function hasNameAndSize(file: File, { name, size }: KnownFile): boolean {
  return file.name.normalize('NFC') === name.normalize('NFC') && file.size === size
}

import { Refusal } from '../domain/errors.ts'
import { formatSize } from '../domain/sizes.ts'

/** Throws Refusal FILE_TOO_LARGE for a file of more than `most` bytes. */
export function assertFileSize(bytes: number, most: number): void {
  if (bytes <= most) return
  throw new Refusal('FILE_TOO_LARGE', `A file may have ${formatSize(most)} at most`)
}

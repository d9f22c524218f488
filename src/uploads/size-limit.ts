import { Refusal } from '../domain/errors.ts'
import { formatSize } from '../domain/sizes.ts'

/** Throws Refusal FILE_TOO_LARGE. */
export function assertFileSize(bytes: number, most: number): void {
  if (bytes > most) throw fileTooLarge(most)
}

export function fileTooLarge(most: number): Refusal {
  return new Refusal('FILE_TOO_LARGE', `A file may have ${formatSize(most)} at most`)
}

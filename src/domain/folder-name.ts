import { Refusal } from './errors.ts'
import { boundedNfc, plainName } from './text.ts'

const MAX_CHARACTERS = 100
const SUBJECT = 'A folder name'

/**
 * Stored folder name: NFC, trimmed, 1–100 characters, no control characters or slashes, not `.` or `..`. Direction
 * overrides and line separators are removed, but marks stay: Hebrew and Arabic names need them. Idempotent. Throws
 * Refusal INVALID_NAME.
 */
export function parseFolderName(value: string): string {
  const plain = plainName(value, SUBJECT)
  if (/[/\\]/.test(plain)) throw invalid(`${SUBJECT} must not contain "/" or "\\".`)
  // Code points: an emoji counts once.
  const name = boundedNfc(plain, MAX_CHARACTERS)
  if (name === null) throw invalid(`${SUBJECT} may be at most ${MAX_CHARACTERS} characters long.`)
  if (name === '') throw invalid(`${SUBJECT} must not be empty.`)
  if (name === '.' || name === '..') throw invalid('A folder cannot be named "." or "..".')
  return name
}

/** Whether a folder that is called `name` is the one that `asked` would make: names are compared as they are kept, with case. */
export function isFolderCalled(name: string, asked: string): boolean {
  try {
    return parseFolderName(asked) === name
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

/** The name with a number appended: `Photos (2)`. Shortened where that would be too long. */
export function numberedFolderName(name: string, number: number): string {
  const mark = ` (${number})`
  return (
    [...name]
      .slice(0, MAX_CHARACTERS - mark.length)
      .join('')
      .trimEnd() + mark
  )
}

function invalid(message: string): Refusal {
  return new Refusal('INVALID_NAME', message)
}

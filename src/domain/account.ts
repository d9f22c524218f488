import { Refusal } from './errors.ts'
import { boundedNfc, INVISIBLE, plainName } from './text.ts'

export const ACCOUNT_SORTS = ['created_at', 'username', 'storage_used', 'files_count'] as const
export const ACCOUNT_STATES = ['all', 'active', 'disabled', 'administrators'] as const
export const ALL_FILES_SORTS = ['created_at', 'size'] as const
export const DAMAGED_FILE_STATES = ['damaged', 'repaired'] as const

/** In days; 0 is for ever. */
export const MOST_INACTIVE_DAYS = 36_500

export type AccountSort = (typeof ACCOUNT_SORTS)[number]
export type AccountState = (typeof ACCOUNT_STATES)[number]
export type AllFilesSort = (typeof ALL_FILES_SORTS)[number]
export type DamagedFileState = (typeof DAMAGED_FILE_STATES)[number]

// No `i` flag: it would admit non-ASCII characters that fold to an ASCII letter.
const USERNAME = /^[A-Za-z0-9._-]{3,32}$/

/** Must precede database queries. */
export function isUsername(text: string): boolean {
  return USERNAME.test(text)
}

/** In lower case: 3–32 of a–z 0–9 `.` `_` `-`. Throws Refusal INVALID_NAME. */
export function parseUsername(value: string): string {
  if (!isUsername(value)) {
    throw new Refusal(
      'INVALID_NAME',
      'A username has 3 to 32 characters: letters a to z, digits, ".", "_" and "-".',
    )
  }
  return value.toLowerCase()
}

export const LONGEST_DISPLAY_NAME = 64
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u

/**
 * NFC, trimmed, 1–64 characters, without control and bidirectional characters; null for an empty one. Throws Refusal
 * INVALID_NAME.
 */
export function parseDisplayName(value: string): string | null {
  const subject = 'A display name'
  const name = boundedNfc(plainName(value, subject).replace(INVISIBLE, '').trim(), LONGEST_DISPLAY_NAME)
  if (name === null) {
    throw new Refusal('INVALID_NAME', `${subject} may be at most ${LONGEST_DISPLAY_NAME} characters long.`)
  }
  if (name === '') return null
  if (!VISIBLE.test(name)) throw new Refusal('INVALID_NAME', `${subject} must have a visible character.`)
  return name
}

export type Language = 'en' | 'de'

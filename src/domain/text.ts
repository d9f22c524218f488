import { Refusal } from './errors.ts'

/** C0, DEL, C1, line separators, and direction controls. */
export const INVISIBLE = /[\p{Cc}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu

/** Without direction marks, which Hebrew and Arabic need; pages isolate their effect. */
export const INVISIBLE_BUT_MARKS = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu

/**
 * Trimmed, without `INVISIBLE_BUT_MARKS`. Refuses control characters, which PostgreSQL may not store and terminals must
 * not get, and lone surrogates, which UTF-8 cannot hold. `subject`: start of the message. Throws Refusal INVALID_NAME.
 */
export function plainName(value: string, subject: string): string {
  const given = value.trim()
  if (/\p{Cc}/u.test(given)) {
    throw new Refusal('INVALID_NAME', `${subject} must not contain control characters, such as line breaks.`)
  }
  if (!given.isWellFormed()) {
    throw new Refusal(
      'INVALID_NAME',
      `${subject} must be valid Unicode; it contains half of a surrogate pair.`,
    )
  }
  return given.replace(INVISIBLE_BUT_MARKS, '').trim()
}

/** Longest decomposition of an NFC character. */
export const RAW_FACTOR = 4

/** In code points. Time grows with `most`, not with the text. */
export function isLongerThan(text: string, most: number): boolean {
  if (text.length <= most) return false
  if (text.length > 2 * most) return true
  return [...text].length > most
}

/** Null if longer. Normalization is quadratic in runs of combining marks, so untrusted text is measured first. */
export function boundedNfc(text: string, most: number): string | null {
  if (isLongerThan(text, RAW_FACTOR * most)) return null
  const normal = text.normalize('NFC')
  return isLongerThan(normal, most) ? null : normal
}

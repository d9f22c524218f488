import { Refusal } from './errors.ts'

/** C0, DEL, C1, line separators, and every character that changes the direction of the following text. */
export const INVISIBLE = /[\p{Cc}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu

/**
 * The same but for direction marks, which Hebrew and Arabic need, and which turn nothing beyond the text that they are in,
 * since pages isolate it.
 */
export const INVISIBLE_BUT_MARKS = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu

/**
 * A name on one line, as it is stored: without surrounding whitespace and `INVISIBLE_BUT_MARKS`. A control character, which
 * PostgreSQL may not store and no terminal should be sent, is refused, as is half of a surrogate pair, which UTF-8 cannot
 * hold. `subject`: what is named, at the beginning of the message. Throws Refusal INVALID_NAME.
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

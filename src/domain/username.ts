import { Refusal } from './errors.ts'

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

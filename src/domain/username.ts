import { Refusal } from './errors.ts'

// No `i` flag: with it, characters outside ASCII that fold to a letter would pass.
const USERNAME = /^[A-Za-z0-9._-]{3,32}$/

/** Whether an account can be called that. No database must be asked for just any text. */
export function isUsername(text: string): boolean {
  return USERNAME.test(text)
}

/** The username in lower case: 3–32 of a–z 0–9 `.` `_` `-`. Throws Refusal INVALID_NAME. */
export function parseUsername(value: string): string {
  if (!isUsername(value)) {
    throw new Refusal(
      'INVALID_NAME',
      'A username has 3 to 32 characters: letters a to z, digits, ".", "_" and "-".',
    )
  }
  return value.toLowerCase()
}

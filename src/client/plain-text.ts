/** Control characters, by which text moves a terminal's cursor, and those that turn the direction of what follows. */
const INVISIBLE = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu
const UNSEEN_IN_LINES = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** The text as one line without control characters, which a terminal would obey. */
export function withoutControls(text: string): string {
  return text.replace(INVISIBLE, '')
}

/** `withoutControls` that keeps line breaks. */
export function plainLines(text: string): string {
  return text.replace(UNSEEN_IN_LINES, '')
}

/** JSON with the same value, in which those characters are escaped. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value).replace(
    INVISIBLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

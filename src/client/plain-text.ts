/** Control characters, which terminals obey, and those that change text direction. */
const INVISIBLE = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu
const UNSEEN_IN_LINES = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

export function withoutControls(text: string): string {
  return text.replace(INVISIBLE, '')
}

export function plainLines(text: string): string {
  return text.replace(UNSEEN_IN_LINES, '')
}

export function plainJson(value: unknown): string {
  return JSON.stringify(value).replace(
    INVISIBLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

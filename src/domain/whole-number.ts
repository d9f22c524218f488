/**
 * A whole number as headers, queries and fields have it: decimal digits of ASCII. Null for anything else: nothing, signs,
 * fractions, exponents, hexadecimal, spaces, other scripts' digits, and the list that a header becomes which came twice.
 * What cannot be counted exactly becomes Number.MAX_SAFE_INTEGER, which is too large for anything here.
 */
export function wholeNumber(text: string | null | undefined): number | null {
  if (text === null || text === undefined || !/^[0-9]+$/.test(text)) return null
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

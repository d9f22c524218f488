/**
 * ASCII digits as in headers, queries and fields. Null for all else: nothing, signs, fractions, exponents, hexadecimal,
 * spaces, other scripts' digits, and the list of a repeated header. Saturates at Number.MAX_SAFE_INTEGER.
 */
export function wholeNumber(text: string | null | undefined): number | null {
  if (text === null || text === undefined || !/^[0-9]+$/.test(text)) return null
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

/**
 * A file is stored with its last bytes, so these are sent apart, from memory, after all others have arrived
 * and the file was checked for changes again. One policy for the command line and the pages, without Node or
 * DOM.
 */

const KIB = 1024

/** Bytes held back until the file is known to be unchanged. */
export const HELD_BACK = 64 * KIB
/** A rest of up to so many bytes is held back whole, which saves a request. */
const HELD_WHOLE = 8 * 1024 * KIB

export interface NextRequest {
  readonly length: number
  readonly isLast: boolean
}

export function nextRequest(left: number, most: number): NextRequest {
  if (left <= Math.min(HELD_WHOLE, most)) return { length: left, isLast: true }
  return { length: Math.min(most, left - Math.min(HELD_BACK, most)), isLast: false }
}

/**
 * With the last bytes of a file it is stored, so these are sent apart, from memory: all before them has arrived, and the
 * file was looked at once more, when they go off. One policy for the command line and the pages, free of Node and the DOM.
 */

const KIB = 1024

/** Bytes at the end of a file that are held back until it is known that the file has not changed. */
export const HELD_BACK = 64 * KIB
/** A rest of up to so many bytes is held back whole, which saves a request. */
const HELD_WHOLE = 8 * 1024 * KIB

export interface NextRequest {
  /** Bytes. */
  readonly length: number
  /** Whether these are the last ones. */
  readonly isLast: boolean
}

/** What the next request brings, where so many bytes are left, and so many may go at once. */
export function nextRequest(left: number, most: number): NextRequest {
  if (left <= Math.min(HELD_WHOLE, most)) return { length: left, isLast: true }
  return { length: Math.min(most, left - Math.min(HELD_BACK, most)), isLast: false }
}

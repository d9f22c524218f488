import { wholeNumber } from '../../domain/whole-number.ts'
/** Range header applied to a content of known size. `end` is exclusive. */
export type RequestedRange =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly start: number; readonly end: number }
  | { readonly kind: 'unsatisfiable' }

const WHOLE = { kind: 'whole' } as const
const UNSATISFIABLE = { kind: 'unsatisfiable' } as const

/**
 * Parses a Range header (RFC 9110 §14.2). A missing or malformed header or another unit is ignored, and
 * several ranges are answered with the whole content, which the RFC allows. `size` is in bytes.
 *
 * Blanks are skipped, and a range that starts beyond the end is unsatisfiable even if its end precedes its
 * start: Bun parses the header of a request for a file in the same way, and the two must never disagree.
 */
export function parseRange(header: string | null, size: number): RequestedRange {
  const set = /^bytes[ \t]*=([\d \t,-]+)$/i.exec(header ?? '')?.[1]
  if (set === undefined) return WHOLE
  // Empty list elements are skipped (RFC 9110 §5.6.1).
  const specs = set
    .split(',')
    .map((spec) => spec.trim())
    .filter((spec) => spec !== '')
  const [spec, another] = specs
  if (spec === undefined || another !== undefined) return WHOLE

  const [, first, last] = /^(\d*)[ \t]*-[ \t]*(\d*)$/.exec(spec) ?? []
  if (first === undefined || last === undefined) return WHOLE
  const from = wholeNumber(first)
  const to = wholeNumber(last)
  if (from !== null) return between(from, to ?? Number.POSITIVE_INFINITY, size)
  return to === null ? WHOLE : suffix(to, size)
}

function between(first: number, last: number, size: number): RequestedRange {
  if (first >= size) return UNSATISFIABLE
  if (last < first) return WHOLE
  return { kind: 'part', start: first, end: Math.min(last + 1, size) }
}

/**
 * A suffix longer than the content selects all of it, even of an empty content, which no Content-Range can
 * express.
 */
function suffix(length: number, size: number): RequestedRange {
  if (length === 0) return UNSATISFIABLE
  return size === 0 ? WHOLE : { kind: 'part', start: Math.max(0, size - length), end: size }
}

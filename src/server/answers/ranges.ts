import { wholeNumber } from '../../domain/whole-number.ts'
/** `end` is exclusive. */
export type RequestedRange =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly start: number; readonly end: number }
  | { readonly kind: 'unsatisfiable' }

const WHOLE = { kind: 'whole' } as const
const UNSATISFIABLE = { kind: 'unsatisfiable' } as const

/**
 * RFC 9110 §14.2. Ignores missing or malformed headers and other units; answers several ranges with the whole content,
 * as allowed. `size`: bytes.
 *
 * Skips blanks, and a range beyond the end is unsatisfiable even if it ends before its start: Bun parses ranges of file
 * requests so, and the two must agree.
 */
export function parseRange(header: string | null, size: number): RequestedRange {
  const set = /^bytes[ \t]*=([\d \t,-]+)$/i.exec(header ?? '')?.[1]
  if (set === undefined) return WHOLE
  // Empty list elements (RFC 9110 §5.6.1).
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

/** A longer suffix selects the whole content, even if empty, which no Content-Range can express. */
function suffix(length: number, size: number): RequestedRange {
  if (length === 0) return UNSATISFIABLE
  return size === 0 ? WHOLE : { kind: 'part', start: Math.max(0, size - length), end: size }
}

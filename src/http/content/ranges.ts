/** What a Range header asks of a content of known size. `end` is exclusive. */
export type RequestedRange =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly start: number; readonly end: number }
  | { readonly kind: 'unsatisfiable' }

const WHOLE = { kind: 'whole' } as const
const UNSATISFIABLE = { kind: 'unsatisfiable' } as const

/**
 * Reads a Range header (RFC 9110 §14.2). A header that is missing, malformed or in another unit is ignored, and several
 * ranges are answered with the whole content, which the RFC allows. `size` is in bytes.
 *
 * Blanks are read over, and a range that begins behind the end is unsatisfiable even where its numbers are turned
 * round: Bun reads the header of a request for a file like that too, and the two must never disagree.
 */
export function parseRange(header: string | null, size: number): RequestedRange {
  const set = /^bytes[ \t]*=([\d \t,-]+)$/i.exec(header ?? '')?.[1]
  if (set === undefined) return WHOLE
  // Empty elements of a list are to be skipped (RFC 9110 §5.6.1).
  const specs = set
    .split(',')
    .map((spec) => spec.trim())
    .filter((spec) => spec !== '')
  const [spec, another] = specs
  if (spec === undefined || another !== undefined) return WHOLE

  const [, first, last] = /^(\d*)[ \t]*-[ \t]*(\d*)$/.exec(spec) ?? []
  if (first === undefined || last === undefined) return WHOLE
  if (first !== '') return between(Number(first), last === '' ? Number.POSITIVE_INFINITY : Number(last), size)
  return last === '' ? WHOLE : suffix(Number(last), size)
}

function between(first: number, last: number, size: number): RequestedRange {
  if (first >= size) return UNSATISFIABLE
  if (last < first) return WHOLE
  return { kind: 'part', start: first, end: Math.min(last + 1, size) }
}

/** A suffix longer than the content is all of it; of an empty content too, which no Content-Range can express. */
function suffix(length: number, size: number): RequestedRange {
  if (length === 0) return UNSATISFIABLE
  return size === 0 ? WHOLE : { kind: 'part', start: Math.max(0, size - length), end: size }
}

/** Lines that the address names, from 1, the last one included. */
export interface LineRange {
  readonly first: number
  readonly last: number
}

/** `#L10` or `#L10-L20`, in either order, as far as there are so many lines; null for anything else. */
export function parseLines(hash: string, count: number): LineRange | null {
  const [, from, to = from] = /^#L(\d{1,7})(?:-L?(\d{1,7}))?$/.exec(hash) ?? []
  if (from === undefined) return null
  const [first = 0, last = 0] = [Number(from), Number(to)].sort((one, other) => one - other)
  return first < 1 || first > count ? null : { first, last: Math.min(last, count) }
}

export function formatLines({ first, last }: LineRange): string {
  return first === last ? `#L${first}` : `#L${first}-L${last}`
}

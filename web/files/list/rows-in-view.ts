/** Lines have one height, so positions need no rendering. */
export interface RowsInView {
  /** Pixels. */
  readonly scrolled: number
  readonly height: number
  readonly lineHeight: number
  readonly columns: number
  readonly total: number
}

/** `end` is exclusive. */
export interface Rows {
  readonly first: number
  readonly end: number
}

/** Lines beyond the edges, for quick scrolling. */
const SPARE = 6

export function rowsInView({ scrolled, height, lineHeight, columns, total }: RowsInView): Rows {
  const firstLine = Math.max(0, Math.floor(scrolled / lineHeight) - SPARE)
  const endLine = Math.ceil((scrolled + height) / lineHeight) + SPARE
  return { first: Math.min(total, firstLine * columns), end: Math.min(total, endLine * columns) }
}

/** Pixels. */
export function heightOf(total: number, columns: number, lineHeight: number): number {
  return Math.ceil(total / columns) * lineHeight
}

/** Unchanged when the row is in view. */
export function scrollTo(
  row: number,
  { scrolled, height, lineHeight, columns }: Omit<RowsInView, 'total'>,
): number {
  const top = Math.floor(row / columns) * lineHeight
  if (top < scrolled) return top
  return Math.max(scrolled, top + lineHeight - height)
}

export function columnsOf(width: number, least: number): number {
  return Math.max(1, Math.floor(width / least))
}

/** Lines to render: those in view, and the focused one, which must not be lost. */
export function linesOf({ first, end }: Rows, focus: number, columns: number): number[] {
  const from = Math.floor(first / columns)
  const to = Math.ceil(end / columns)
  const lines = Array.from({ length: to - from }, (_, index) => from + index)
  const focused = Math.floor(focus / columns)
  if (focused < from) return [focused, ...lines]
  return focused >= to ? [...lines, focused] : lines
}

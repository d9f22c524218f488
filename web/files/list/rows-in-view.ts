/** Where the lines of a list are. All are of one height, so that no line has to be there to know it. */
export interface RowsInView {
  /** Pixels. */
  readonly scrolled: number
  readonly height: number
  readonly lineHeight: number
  readonly columns: number
  readonly total: number
}

/** From `first` to before `end`. */
export interface Rows {
  readonly first: number
  readonly end: number
}

/** Lines beyond the edges, so that a quick turn of the wheel finds them there. */
const SPARE = 6

export function rowsInView({ scrolled, height, lineHeight, columns, total }: RowsInView): Rows {
  const firstLine = Math.max(0, Math.floor(scrolled / lineHeight) - SPARE)
  const endLine = Math.ceil((scrolled + height) / lineHeight) + SPARE
  return { first: Math.min(total, firstLine * columns), end: Math.min(total, endLine * columns) }
}

/** Pixels that all lines take. */
export function heightOf(total: number, columns: number, lineHeight: number): number {
  return Math.ceil(total / columns) * lineHeight
}

/** Where to scroll to so that a row is in view: not at all when it is. */
export function scrollTo(
  row: number,
  { scrolled, height, lineHeight, columns }: Omit<RowsInView, 'total'>,
): number {
  const top = Math.floor(row / columns) * lineHeight
  if (top < scrolled) return top
  return Math.max(scrolled, top + lineHeight - height)
}

/** How many tiles of at least that width fit beside each other. */
export function columnsOf(width: number, least: number): number {
  return Math.max(1, Math.floor(width / least))
}

/** The lines that are to be there: those of the rows, and the one of the focus, which must not be lost. */
export function linesOf({ first, end }: Rows, focus: number, columns: number): number[] {
  const from = Math.floor(first / columns)
  const to = Math.ceil(end / columns)
  const lines = Array.from({ length: to - from }, (_, index) => from + index)
  const focused = Math.floor(focus / columns)
  if (focused < from) return [focused, ...lines]
  return focused >= to ? [...lines, focused] : lines
}

import { formatLines, type LineRange, parseLines } from './line-range.ts'

export interface LineLinks {
  /** Marks a line that is shown, and scrolls to it. */
  goTo(line: number): void
}

/**
 * Marks the lines that the address names, and lets their numbers be chosen: a click marks one line, with Shift all up to
 * it. One number at a time is reached by Tab; arrows move from there, and with Shift they mark. `rows` may grow; `reach`
 * lets it grow to a line.
 */
export function enableLineLinks(
  region: HTMLElement,
  rows: readonly HTMLElement[],
  reach: (line: number) => Promise<void>,
): LineLinks {
  let marked: LineRange | null = null
  /** Where a range begins, and the line at its other end. */
  let anchor = 1
  let at = 1

  const numberOf = (line: number) => rows[line - 1]?.querySelector<HTMLElement>('.line-number')

  function mark(range: LineRange | null): void {
    for (const row of rowsIn(marked)) row.removeAttribute('data-marked')
    marked = range
    for (const row of rowsIn(marked)) row.setAttribute('data-marked', '')
  }

  function rowsIn(range: LineRange | null): readonly HTMLElement[] {
    return range === null ? [] : rows.slice(range.first - 1, range.last)
  }

  function moveTo(line: number): void {
    numberOf(at)?.setAttribute('tabindex', '-1')
    at = line
    numberOf(at)?.setAttribute('tabindex', '0')
  }

  function choose(line: number, isRange: boolean): void {
    if (!isRange) anchor = line
    moveTo(line)
    const range = { first: Math.min(anchor, line), last: Math.max(anchor, line) }
    mark(range)
    // Not an entry of the history: Back leads to where the reader came from.
    history.replaceState(history.state, '', formatLines(range))
  }

  async function follow(): Promise<void> {
    const named = location.hash
    await reach(parseLines(named, Number.POSITIVE_INFINITY)?.last ?? 0)
    if (location.hash !== named) return
    const range = parseLines(named, rows.length)
    mark(range)
    anchor = range?.first ?? 1
    moveTo(range?.last ?? 1)
    rowsIn(range)[0]?.scrollIntoView({ block: 'center' })
  }

  region.addEventListener('click', (event) => {
    const line = lineOf(event.target)
    if (line === null || event.ctrlKey || event.metaKey || event.button !== 0) return
    event.preventDefault()
    choose(line, event.shiftKey)
    numberOf(line)?.focus({ preventScroll: true })
  })
  // Shift and a click would also select the text between.
  region.addEventListener('mousedown', (event) => {
    if (event.shiftKey && lineOf(event.target) !== null) event.preventDefault()
  })
  region.addEventListener('keydown', (event) => {
    const from = lineOf(event.target)
    const to = from === null ? null : target(event.key, from, rows.length)
    if (to === null || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    if (event.shiftKey) choose(to, true)
    else moveTo(to)
    numberOf(to)?.focus()
  })
  addEventListener('hashchange', () => void follow())
  void follow()
  return {
    goTo(line) {
      choose(line, false)
      rows[line - 1]?.scrollIntoView({ block: 'center' })
    },
  }
}

function target(key: string, from: number, count: number): number | null {
  const to = { ArrowUp: from - 1, ArrowDown: from + 1, Home: 1, End: count }[key]
  return to === undefined ? null : Math.min(Math.max(to, 1), count)
}

/** The line whose number the event is about. */
function lineOf(target: EventTarget | null): number | null {
  const number = target instanceof Element ? target.closest<HTMLElement>('.line-number') : null
  return number === null ? null : Number(number.dataset.line)
}

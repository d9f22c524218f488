import { fill } from '../shared/words.ts'
import { element } from './elements.ts'

/** Elements that are open at the end of a line are opened again in the next one: so many, however deep they lie. */
const MAX_DEPTH = 16

/** Splits the fragment after each of its newlines, which stay. What ends with one has no empty line after it. */
export function linesIn(whole: DocumentFragment): DocumentFragment[] {
  let line = new DocumentFragment()
  const lines = [line]
  let open: Element[] = []

  function append(node: Node | string): void {
    const into = open.at(-1) ?? line
    into.append(node)
  }

  function begin(): void {
    line = new DocumentFragment()
    lines.push(line)
    const copies = open.map((each) => each.cloneNode(false) as Element)
    open = []
    for (const copy of copies) {
      append(copy)
      open.push(copy)
    }
  }

  function take(node: Node): void {
    if (node instanceof Text) {
      const pieces = node.data.split(/(?<=\n)/)
      for (const piece of pieces) {
        append(piece)
        if (piece.endsWith('\n')) begin()
      }
    } else if (node instanceof Element && open.length < MAX_DEPTH) {
      const copy = node.cloneNode(false) as Element
      append(copy)
      open.push(copy)
      for (const child of node.childNodes) take(child)
      open.pop()
    } else {
      for (const child of node.childNodes) take(child)
    }
  }

  take(whole)
  if (line.textContent === '' && lines.length > 1) lines.pop()
  return lines
}

/**
 * A row for each line: its number, which is a link to it, and its text. `label`: with {line} for the number. `before`: how
 * many lines stand above.
 */
export function rowsOf(lines: readonly DocumentFragment[], label: string, before: number): HTMLElement[] {
  return lines.map((line, index) => {
    const number = String(before + index + 1)
    const link = element('a', {
      class: 'line-number',
      href: `#L${number}`,
      'data-line': number,
      'aria-label': fill(label, { line: number }),
      tabindex: '-1',
    })
    const text = element('div', { class: 'line-text' })
    text.append(line)
    return element('div', { class: 'line' }, link, text)
  })
}

/** Browsers lay out a block when it comes into sight; a text of thousands of lines is there at once so. */
const BLOCK = 100

export function blocksOf(rows: readonly HTMLElement[]): HTMLElement[] {
  const blocks: HTMLElement[] = []
  for (let at = 0; at < rows.length; at += BLOCK) {
    const block = element('div', { class: 'lines-block' }, ...rows.slice(at, at + BLOCK))
    block.style.setProperty('--rows', String(Math.min(BLOCK, rows.length - at)))
    blocks.push(block)
  }
  return blocks
}

/** Puts the same lines, coloured, into the rows. */
export function recolour(rows: readonly HTMLElement[], lines: readonly DocumentFragment[]): void {
  if (rows.length !== lines.length) return
  for (const [index, line] of lines.entries()) rows[index]?.lastElementChild?.replaceChildren(line)
}

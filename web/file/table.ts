import Papa from 'papaparse'
import { fill } from '../shared/words.ts'
import { element, foreignText } from './elements.ts'
import { separated } from './separated.ts'
import { type PreviewContext, present } from './stage.ts'
import { readTextPart } from './text-part.ts'

const MAX_ROWS = 1000
/** Answers to a long questionnaire have some hundred. */
const MAX_COLUMNS = 500
/** Rows times columns: what a browser lays out in no time. */
const MAX_CELLS = 20_000
/** Characters of one cell. */
const MAX_CELL = 500
/** Characters of a cell, such as a date or an amount, that are never broken into lines. */
const ONE_LINE = 24

/** Shows comma-separated values, or those separated otherwise, as a table whose first row names the columns. */
export async function show(preview: PreviewContext): Promise<void> {
  const { stage, source, page, words } = preview
  const part = await readTextPart(preview)
  if (part === null) return
  // As arrays: names of columns become no names of properties.
  const { text: content, delimiter } = separated(part.text, source.name)
  const { data, meta } = Papa.parse<string[]>(content, {
    preview: MAX_ROWS + 2,
    skipEmptyLines: true,
    delimiter,
  })
  const all = part.isWhole || meta.truncated ? data : data.slice(0, -1)
  const [head = [], ...rows] = all
  const widest = all.reduce((most, row) => Math.max(most, row.length), 0)
  const columns = Math.min(widest, MAX_COLUMNS)
  const limit = Math.min(MAX_ROWS, Math.floor(MAX_CELLS / Math.max(1, columns)))
  const shown = rows.slice(0, limit)
  const isAll = part.isWhole && shown.length === rows.length
  const text = widest > columns ? page.texts.firstRowsAndColumns : page.texts.firstRows
  const note =
    isAll && widest === columns
      ? null
      : fill(text, { rows: words.number(shown.length), columns: words.number(columns) })
  const table = element(
    'table',
    {},
    element('thead', {}, row('th', head, columns)),
    element('tbody', {}, ...shown.map((cells) => row('td', cells, columns))),
  )
  const frame = element(
    'div',
    { class: 'table', tabindex: '0', role: 'region', 'aria-label': source.name },
    table,
  )
  present(stage, [frame], note)
}

function row(tag: 'th' | 'td', cells: readonly string[], columns: number): HTMLTableRowElement {
  const made = element('tr')
  for (let column = 0; column < columns; column += 1) {
    const text = cells[column] ?? ''
    const cut = text.length > MAX_CELL ? `${text.slice(0, MAX_CELL)}…` : text
    const cell = element(tag, { dir: 'auto' }, foreignText(cut))
    if (cut.length <= ONE_LINE) cell.className = 'one-line'
    if (tag === 'th') cell.setAttribute('scope', 'col')
    made.append(cell)
  }
  return made
}

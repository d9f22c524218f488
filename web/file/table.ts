import { fill } from '../shared/words.ts'
import { element, foreignText } from './elements.ts'
import { type PreviewContext, present, presentMessage } from './stage.ts'
import { compareCells, isNumber } from './table-cells.ts'
import { TableRows } from './table-rows.ts'
import { TextLines } from './text-lines.ts'

/** Rows that are laid out at once; more as one scrolls. */
const ROWS = 1000
/** Answers to a long questionnaire have some hundred. */
const MAX_COLUMNS = 500
/** Rows times columns: what a browser lays out in no time. */
const CELLS = 20_000
/** Rows times columns: what a browser scrolls easily. */
const MAX_CELLS = 400_000
/** Characters of one cell. */
const MAX_CELL = 500
/** Characters of a cell, such as a date or an amount, that are never broken into lines. */
const ONE_LINE = 24
/** Bytes that are read to sort. */
const MAX_SORTED = 32 * 1024 ** 2

/** Shows comma-separated values, or those separated otherwise, as a table whose first row names the columns. */
export async function show(preview: PreviewContext): Promise<void> {
  const { stage, source, page } = preview
  const lines = new TextLines(source)
  const rows = new TableRows(lines, source.name)
  await rows.next()
  if (source.size === 0 || lines.isBinary) {
    presentMessage(stage, page, source.size === 0 ? page.texts.empty : page.texts.binary)
    return
  }
  new TableView(preview, rows, lines).present()
}

type Order = 'ascending' | 'descending'

class TableView {
  readonly #preview: PreviewContext
  readonly #source: TableRows
  readonly #lines: TextLines
  readonly #head: readonly string[]
  readonly #columns: number
  readonly #isCut: boolean
  readonly #body = element('tbody')
  readonly #note = element('p', { class: 'stage-note small quiet', role: 'status' })
  readonly #end = element('div', { class: 'table-end' })
  readonly #numeric: readonly boolean[]
  /** What is sorted; null in the order of the file. */
  #sorted: string[][] | null = null
  #shown = 0
  #working = Promise.resolve()

  constructor(preview: PreviewContext, source: TableRows, lines: TextLines) {
    this.#preview = preview
    this.#source = source
    this.#lines = lines
    const [head = []] = source.all.splice(0, 1)
    this.#head = head
    const widest = source.all.reduce((most, row) => Math.max(most, row.length), head.length)
    this.#columns = Math.min(widest, MAX_COLUMNS)
    this.#isCut = widest > this.#columns
    this.#numeric = Array.from({ length: this.#columns }, (_, column) => isNumeric(source.all, column))
  }

  present(): void {
    const { stage, source, page } = this.#preview
    const names = Array.from({ length: this.#columns }, (_, column) => this.#name(column))
    const table = element('table', {}, element('thead', {}, element('tr', {}, ...names)), this.#body)
    const frame = element(
      'div',
      { class: 'table', tabindex: '0', role: 'region', 'aria-label': source.name },
      table,
      this.#end,
    )
    this.#append()
    present(stage, [frame, this.#note])
    this.#say(page.texts.firstRows)
    new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) this.#inTurn(() => this.#more())
      },
      { rootMargin: '0px 0px 800px' },
    ).observe(this.#end)
  }

  /** A button that sorts by the column: upwards, downwards, and as the file has it. */
  #name(column: number): HTMLTableCellElement {
    const text = cut(this.#head[column] ?? '')
    const button = element('button', { type: 'button', class: 'sort' }, foreignText(text))
    const cell = element('th', { scope: 'col', dir: 'auto' }, button)
    cell.className = this.#classes(column, text)
    button.addEventListener('click', () => {
      const before = cell.getAttribute('aria-sort')
      const order = before === 'ascending' ? 'descending' : before === 'descending' ? null : 'ascending'
      this.#inTurn(() => this.#sort(column, order))
    })
    return cell
  }

  /** One after the other: reading and sorting change the same rows. */
  #inTurn(work: () => Promise<void>): void {
    this.#working = this.#working.then(work).catch((error) => console.error(error))
  }

  async #sort(column: number, order: Order | null): Promise<void> {
    const { texts } = this.#preview.page
    while (order !== null && this.#lines.position < MAX_SORTED && (await this.#source.next()));
    for (const [at, cell] of [...this.#cells()].entries()) {
      if (at === column && order !== null) cell.setAttribute('aria-sort', order)
      else cell.removeAttribute('aria-sort')
    }
    const compare = compareCells(this.#preview.page.locale, column)
    const turn = order === 'descending' ? -1 : 1
    this.#sorted = order === null ? null : this.#source.all.toSorted((a, b) => compare(a, b, turn))
    this.#shown = 0
    this.#body.replaceChildren()
    this.#append()
    this.#say(order === null || this.#source.isWhole ? texts.firstRows : texts.sortedRows)
  }

  #cells(): NodeListOf<Element> {
    return this.#preview.stage.querySelectorAll('thead th')
  }

  async #more(): Promise<void> {
    if (this.#shown * this.#columns >= MAX_CELLS) return
    if (this.#sorted === null && this.#shown === this.#source.all.length) await this.#source.next()
    this.#append()
    this.#say(this.#preview.page.texts.firstRows)
  }

  #append(): void {
    const rows = this.#sorted ?? this.#source.all
    const most = Math.max(1, Math.min(ROWS, Math.floor(CELLS / Math.max(1, this.#columns))))
    const next = rows.slice(this.#shown, this.#shown + most)
    this.#body.append(...next.map((cells) => this.#row(cells)))
    this.#shown += next.length
    // The observer looks again when it has moved.
    this.#end.remove()
    this.#body.parentElement?.after(this.#end)
  }

  #row(cells: readonly string[]): HTMLTableRowElement {
    const made = element('tr')
    for (let column = 0; column < this.#columns; column += 1) {
      const text = cut(cells[column] ?? '')
      const cell = element('td', { dir: 'auto' }, foreignText(text))
      cell.className = this.#classes(column, text)
      made.append(cell)
    }
    return made
  }

  #classes(column: number, text: string): string {
    return [text.length <= ONE_LINE ? 'one-line' : '', this.#numeric[column] ? 'amount' : '']
      .filter((name) => name !== '')
      .join(' ')
  }

  #say(text: string): void {
    const { words, page } = this.#preview
    const isAll = this.#source.isWhole && this.#shown === this.#source.all.length
    this.#note.hidden = isAll && !this.#isCut && text === page.texts.firstRows
    const isAllSorted = text === page.texts.sortedRows
    const rows = words.number(isAllSorted ? this.#source.all.length : this.#shown)
    const columns = words.number(this.#columns)
    const note = fill(this.#isCut ? page.texts.firstRowsAndColumns : text, { rows, columns })
    this.#note.textContent = this.#note.hidden ? '' : note
  }
}

function isNumeric(rows: readonly (readonly string[])[], column: number): boolean {
  const cells = rows.slice(0, 100).flatMap((row) => row[column] || [])
  return cells.length > 0 && cells.every(isNumber)
}

function cut(text: string): string {
  return text.length > MAX_CELL ? `${text.slice(0, MAX_CELL)}…` : text
}

import { fill } from '../shared/words.ts'
import type { CodeQuestion } from './code-worker.ts'
import { element, foreignText } from './elements.ts'
import { enableLineLinks } from './line-links.ts'
import { blocksOf, linesIn, recolour, rowsOf } from './lines.ts'
import { rebuilt } from './rebuild.ts'
import { type PreviewContext, present, presentMessage } from './stage.ts'
import { TextLines } from './text-lines.ts'
import { searchForm } from './text-search.ts'
import { askWorker } from './worker-call.ts'
import { wrapButton } from './wrapping.ts'

/** Characters. Beyond that the colours cost more than they tell. */
const MAX_HIGHLIGHTED = 128 * 1024
/** Characters. No person wrote such a line: it is wrapped until somebody asks for it as it is. */
const LONG_LINE = 2000
/** Rows that every browser scrolls easily. */
const MAX_LINES = 100_000
/** Milliseconds. */
const PATIENCE = 4000

/**
 * Shows text or source code with numbered lines, and reads on as one scrolls; code at once without colours and then with
 * them.
 */
export async function show(preview: PreviewContext): Promise<void> {
  const { stage, source, page } = preview
  const reader = new TextLines(source)
  const text = await reader.next()
  if (source.size === 0 || reader.isBinary) {
    presentMessage(stage, page, source.size === 0 ? page.texts.empty : page.texts.binary)
    return
  }
  const isCode = page.preview?.kind === 'code'
  const view = new TextView(preview, reader, isCode)
  view.add(text)
  view.present()
  if (!isCode || !reader.isWhole || text.length > MAX_HIGHLIGHTED) return
  const question: CodeQuestion = { text, language: languageOf(source.name) }
  const html = await askWorker(page.parts.codeWorker, question, PATIENCE)
  if (html !== null) recolour(view.rows, linesIn(rebuilt(html, 'code')))
}

class TextView {
  readonly rows: HTMLElement[] = []
  readonly #preview: PreviewContext
  readonly #reader: TextLines
  readonly #region: HTMLElement
  readonly #all = element('div', { class: 'lines-all' })
  readonly #note = element('p', { class: 'stage-note small quiet' })
  readonly #more: HTMLButtonElement
  #reading: Promise<boolean> | null = null

  constructor(preview: PreviewContext, reader: TextLines, isCode: boolean) {
    this.#preview = preview
    this.#reader = reader
    this.#more = element('button', { type: 'button', class: 'lines-more' }, preview.page.texts.showMore)
    const attributes = { tabindex: '0', role: 'region', 'aria-label': preview.source.name }
    const name = isCode ? 'lines lines-code' : 'lines'
    this.#region = element('div', { class: name, ...attributes }, this.#all)
  }

  /** At most `MAX_LINES` in all. */
  add(text: string): void {
    const lines = linesIn(foreignText(text)).slice(0, MAX_LINES - this.rows.length)
    const rows = rowsOf(lines, this.#preview.page.texts.line, this.rows.length)
    for (const row of rows) this.rows.push(row)
    this.#all.append(...blocksOf(rows))
    this.#region.style.setProperty('--digits', String(String(this.rows.length).length))
  }

  present(): void {
    const { stage, page } = this.#preview
    const { texts } = page
    const isCode = this.#region.classList.contains('lines-code')
    const isLong = (row: HTMLElement) => (row.textContent ?? '').length > LONG_LINE
    const byDefault = !isCode || this.rows.some(isLong)
    const raw = page.preview?.rawUrl ?? null
    const bar = element(
      'div',
      { class: 'lines-bar' },
      wrapButton(this.#region, this.rows, { label: texts.wrapLines, byDefault }),
      ...(raw === null ? [] : [element('a', { href: raw, rel: 'nofollow' }, texts.raw)]),
    )
    present(stage, [bar, this.#region, this.#note])
    this.#say()
    const links = enableLineLinks(this.#region, this.rows, async (line) => {
      while (this.rows.length < line && (await this.#readOn()));
    })
    if (this.#isAtEnd) return
    const search = searchForm({ texts, rows: this.rows, readOn: () => this.#readOn(), goTo: links.goTo })
    bar.prepend(search)
    this.#all.after(this.#more)
    this.#more.addEventListener('click', () => void this.#readOn())
    new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) void this.#readOn()
      },
      { rootMargin: '0px 0px 800px' },
    ).observe(this.#more)
  }

  get #isAtEnd(): boolean {
    return this.#reader.isAtEnd || this.rows.length >= MAX_LINES
  }

  /** False where there is no more, or it could not be read: the button stays for another try. */
  #readOn(): Promise<boolean> {
    if (this.#isAtEnd) return Promise.resolve(false)
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #read(): Promise<boolean> {
    try {
      this.add(await this.#reader.next())
    } catch (error) {
      console.error(error)
      return false
    }
    if (this.#isAtEnd) this.#more.remove()
    this.#say()
    return true
  }

  #say(): void {
    const { page, source, words } = this.#preview
    const shown = { shown: words.size(this.#reader.position), size: words.size(source.size) }
    const isFull = this.rows.length >= MAX_LINES
    this.#note.hidden = this.#reader.isWhole && !isFull
    this.#note.textContent = isFull
      ? fill(page.texts.firstLines, { lines: words.number(MAX_LINES) })
      : fill(page.texts.shownPart, shown)
  }
}

/** What the highlighter takes as a language: the extension, or the whole of a name that is its own. */
function languageOf(name: string): string {
  const lower = name.toLowerCase()
  return lower.slice(lower.lastIndexOf('.') + 1)
}

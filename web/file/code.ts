import { fill } from '../shared/words.ts'
import type { CodeQuestion } from './code-worker.ts'
import { element, foreignText } from './elements.ts'
import { enableLineLinks } from './line-links.ts'
import { blocksOf, linesIn, recolour, rowsOf } from './lines.ts'
import { rebuilt } from './rebuild.ts'
import { type PreviewContext, present } from './stage.ts'
import { readTextPart } from './text-part.ts'
import { askWorker } from './worker-call.ts'
import { wrapButton } from './wrapping.ts'

/** Characters. Beyond that the colours cost more than they tell. */
const MAX_HIGHLIGHTED = 128 * 1024
/** Characters. No person wrote such a line: it is wrapped until somebody asks for it as it is. */
const LONG_LINE = 2000
/** Rows that every browser scrolls easily. */
const MAX_LINES = 10_000
/** Milliseconds. */
const PATIENCE = 4000

/** Shows text or source code with numbered lines; code at once without colours and then with them. */
export async function show(preview: PreviewContext): Promise<void> {
  const { stage, source, page, words } = preview
  const part = await readTextPart(preview)
  if (part === null) return
  const text = firstLines(part.text)
  const isCut = text.length < part.text.length
  const lines = linesIn(foreignText(text))
  const isCode = page.preview?.kind === 'code'
  const byDefault = !isCode || lines.some((line) => (line.textContent ?? '').length > LONG_LINE)
  const rows = rowsOf(lines, page.texts.line)
  const region = element(
    'div',
    {
      class: isCode ? 'lines lines-code' : 'lines',
      tabindex: '0',
      role: 'region',
      'aria-label': source.name,
    },
    element('div', { class: 'lines-all' }, ...blocksOf(rows)),
  )
  region.style.setProperty('--digits', String(String(lines.length).length))
  const wrap = wrapButton(region, rows, { label: page.texts.wrapLines, byDefault })
  const raw = page.preview?.rawUrl ?? null
  const bar = element(
    'div',
    { class: 'lines-bar' },
    wrap,
    ...(raw === null ? [] : [element('a', { href: raw, rel: 'nofollow' }, page.texts.raw)]),
  )
  const note = isCut ? fill(page.texts.firstLines, { lines: words.number(MAX_LINES) }) : part.note
  present(stage, [bar, region], note)
  enableLineLinks(region, rows)
  if (!isCode || isCut || part.text.length > MAX_HIGHLIGHTED) return
  const question: CodeQuestion = { text: part.text, language: languageOf(source.name) }
  const html = await askWorker(page.parts.codeWorker, question, PATIENCE)
  if (html !== null) recolour(rows, linesIn(rebuilt(html, 'code')))
}

function firstLines(text: string): string {
  let end = 0
  for (let lines = 0; lines < MAX_LINES; lines++) {
    end = text.indexOf('\n', end) + 1
    if (end === 0) return text
  }
  return text.slice(0, end)
}

/** What the highlighter takes as a language: the extension, or the whole of a name that is its own. */
function languageOf(name: string): string {
  const lower = name.toLowerCase()
  return lower.slice(lower.lastIndexOf('.') + 1)
}

import type { CodeQuestion } from './code-worker.ts'
import { element, foreignText } from './elements.ts'
import { rebuilt } from './rebuild.ts'
import { type PreviewContext, present } from './stage.ts'
import { readTextPart } from './text-part.ts'
import { askWorker } from './worker-call.ts'

/** Characters. Beyond that the colours cost more than they tell. */
const MAX_HIGHLIGHTED = 128 * 1024
/** Characters. No person wrote such a line; it is wrapped, and lines have no numbers. */
const LONG_LINE = 2000
/** Milliseconds. */
const PATIENCE = 4000

/** Shows source code with numbered lines, at once without colours and then with them. */
export async function show(preview: PreviewContext): Promise<void> {
  const { stage, source, page } = preview
  const part = await readTextPart(preview)
  if (part === null) return
  const lines = part.text.replace(/\n$/, '').split('\n')
  const isWrapped = lines.some((line) => line.length > LONG_LINE)
  const code = element('code', {}, foreignText(part.text))
  const numbers = lines.map((_, index) => index + 1).join('\n')
  const block = element(
    'div',
    {
      class: isWrapped ? 'code code-wrapped' : 'code',
      tabindex: '0',
      role: 'region',
      'aria-label': source.name,
    },
    ...(isWrapped ? [] : [element('pre', { class: 'code-lines', 'aria-hidden': 'true' }, numbers)]),
    element('pre', { class: 'code-text' }, code),
  )
  present(stage, [block], part.note)
  if (part.text.length > MAX_HIGHLIGHTED) return
  const question: CodeQuestion = { text: part.text, language: languageOf(source.name) }
  const html = await askWorker(page.parts.codeWorker, question, PATIENCE)
  if (html !== null) code.replaceChildren(rebuilt(html, 'code'))
}

/** What the highlighter takes as a language: the extension, or the whole of a name that is its own. */
function languageOf(name: string): string {
  const lower = name.toLowerCase()
  return lower.slice(lower.lastIndexOf('.') + 1)
}

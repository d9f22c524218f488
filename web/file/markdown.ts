import { element, foreignText } from './elements.ts'
import { rebuilt } from './rebuild.ts'
import { type PreviewContext, present } from './stage.ts'
import { readTextPart } from './text-part.ts'
import { askWorker } from './worker-call.ts'

/** Milliseconds. */
const PATIENCE = 4000

/** Shows Markdown as the document that it means; as text where that takes too long. */
export async function show(preview: PreviewContext): Promise<void> {
  const { stage, source, page } = preview
  const part = await readTextPart(preview)
  if (part === null) return
  const html = await askWorker(page.parts.markdownWorker, part.text, PATIENCE)
  const shown =
    html === null
      ? element('pre', { class: 'text' }, foreignText(part.text))
      : element('article', { class: 'document', dir: 'auto' }, rebuilt(html, 'document'))
  const frame = element(
    'div',
    { class: 'paper', tabindex: '0', role: 'region', 'aria-label': source.name },
    shown,
  )
  present(stage, [frame], part.note)
}

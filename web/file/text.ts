import { element, foreignText } from './elements.ts'
import { type PreviewContext, present } from './stage.ts'
import { readTextPart } from './text-part.ts'

/** Shows plain text as it is. */
export async function show(preview: PreviewContext): Promise<void> {
  const part = await readTextPart(preview)
  if (part === null) return
  present(preview.stage, [plainText(preview, part.text)], part.note)
}

/** Scrolls by itself, and so can be reached by keyboard. */
function plainText({ source }: PreviewContext, text: string): HTMLElement {
  return element(
    'pre',
    { class: 'text', tabindex: '0', role: 'region', 'aria-label': source.name },
    foreignText(text),
  )
}

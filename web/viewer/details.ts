import { element } from '../file/elements.ts'
import type { ViewerTexts } from '../folder/data.ts'
import { enableCopy } from '../shared/copy-button.ts'
import { showLocalDays } from '../shared/local-days.ts'
import type { OpenedFile } from './opened-file.ts'
import { iconButton } from './tools.ts'

/** A sheet over the viewer with what the file's page says of it. */
export function showDetails(over: HTMLElement, opened: OpenedFile, texts: ViewerTexts): void {
  const sheet = element('dialog', { class: 'viewer-sheet', 'aria-label': texts.details })
  const close = iconButton('cross', texts.close, () => sheet.close())
  const parts = ['.facts', '.details'].flatMap((part) => {
    const found = opened.document.querySelector(part)
    return found === null ? [] : [document.importNode(found, true)]
  })
  sheet.append(close, ...parts)
  // These act on the page that they were made for.
  for (const part of sheet.querySelectorAll(
    '.verify, .facts > :is(.button, .download-form), .facts > .up:first-child',
  ))
    part.remove()
  sheet.addEventListener('close', () => sheet.remove())
  sheet.addEventListener('click', ({ target }) => {
    if (target === sheet) sheet.close()
  })
  over.append(sheet)
  enableCopy(sheet)
  showLocalDays()
  sheet.showModal()
}

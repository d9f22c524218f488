import { element } from '../file/elements.ts'
import { showPreview } from '../file/previews.ts'
import type { FolderPageData } from '../folder/data.ts'
import type { OpenedFile } from './opened-file.ts'
import type { ViewedFile } from './slides.ts'

/** Height of a player's controls, in pixels; a finger on them does not turn the page. */
const CONTROLS = 72

/** Shows what is no picture as its own page does, else its icon, name and download. */
export function fillPreview(
  box: HTMLElement,
  { name, path }: ViewedFile,
  opened: OpenedFile | null,
  { texts }: FolderPageData,
): void {
  const source = opened?.document.querySelector<HTMLElement>('#stage')
  if (opened === null || source == null) {
    const link = element('a', { class: 'button button-quiet', href: path }, texts.openPage)
    box.replaceChildren(element('div', { class: 'viewer-note' }, element('p', {}, texts.failed), link))
    return
  }
  const stage = document.importNode(source, true)
  stage.removeAttribute('id')
  // Parsed for a page without scripts.
  for (const fallback of stage.querySelectorAll('noscript')) fallback.remove()
  box.replaceChildren(stage)
  if (opened.page.preview === null) {
    stage.append(element('p', { class: 'viewer-name' }, element('bdi', {}, name)))
    const download = opened.document.querySelector('.facts > :is(.button, .download-form)')
    if (download !== null) stage.append(document.importNode(download, true))
    return
  }
  keepGestures(box)
  void showPreview(stage, opened.page)
}

export function playerIn(box: Element | undefined): HTMLMediaElement | null {
  return box?.querySelector<HTMLMediaElement>('video, audio') ?? null
}

/** What is read, marked or played is touched without turning to another file. */
function keepGestures(box: HTMLElement): void {
  for (const gesture of ['pointerdown', 'wheel', 'click'] as const) {
    box.addEventListener(gesture, (event) => {
      if (!(event.target instanceof Element)) return
      const isFilm = event.target instanceof HTMLVideoElement
      if (event.target === box || (isFilm && gesture === 'pointerdown' && !isOnControls(event))) return
      event.stopPropagation()
    })
  }
}

function isOnControls({ target, clientY }: MouseEvent): boolean {
  return target instanceof Element && target.getBoundingClientRect().bottom - clientY < CONTROLS
}

import { neighbouringFiles } from '../shared/neighbouring-files.ts'
import type { FileScriptTexts } from './data.ts'
import { element } from './elements.ts'

/** Leads to the files beside this one in its folder, by links and by arrow keys. */
export function showNextFile(texts: FileScriptTexts): void {
  const beside = neighbouringFiles(location.pathname)
  const folder = document.querySelector('.facts > .up:first-child')
  if (beside === null || folder === null) return
  const previous = linkTo(beside.previous, `‹ ${texts.previousFile}`)
  const next = linkTo(beside.next, `${texts.nextFile} ›`)
  const links = element('nav', { class: 'beside' }, previous, next)
  const line = element('div', { class: 'folder-line' })
  folder.replaceWith(line)
  line.append(folder, links)
  document.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented) return
    // A preview that has the focus has uses of its own for these keys, but for a picture that fits.
    const present = document.activeElement
    const isPicture = present?.matches('.zoom[data-zoomed="false"]') === true
    if (present !== document.body && !isPicture && !links.contains(present)) return
    if (event.key === 'ArrowLeft') previous.click()
    if (event.key === 'ArrowRight') next.click()
  })
}

/** At an end of the folder it leads nowhere, and takes the same room. */
function linkTo(path: string | null, text: string): HTMLAnchorElement {
  if (path === null) return element('a', { 'aria-hidden': 'true' }, text)
  const link = element('a', { href: path }, text)
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    // So that Back leads to the folder from every file.
    location.replace(path)
  })
  return link
}

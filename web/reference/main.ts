import { enableCopy } from '../shared/copy-button.ts'

enableCopy(document)
openTargets(window)

/** Opens what the address leads to, which lies in a part that is closed at first. */
function openTargets(page: Window): void {
  const open = () => {
    const target = page.document.getElementById(decodeURIComponent(page.location.hash.slice(1)))
    const part = target?.closest('details')
    if (part === null || part === undefined) return
    part.open = true
    part.scrollIntoView()
  }
  page.addEventListener('hashchange', open)
  open()
}

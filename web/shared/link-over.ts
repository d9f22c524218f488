/** The answer to the form of a link that opens once is a download, so the page stays, and says itself what it did. */
export function sayLinkIsOver(): void {
  const before = document.querySelector<HTMLElement>('[data-before-download]')
  const after = document.querySelector<HTMLElement>('[data-after-download]')
  if (before === null || after === null) return
  addEventListener('submit', ({ target }) => {
    if (!(target instanceof HTMLFormElement) || !target.matches('.download-form')) return
    before.hidden = true
    after.hidden = false
  })
}

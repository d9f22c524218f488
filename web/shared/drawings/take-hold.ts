/** Lets the mark in the head of the page take hold: what was sent is safe on the server. Again with each call. */
export function takeHold(): void {
  const mark = document.querySelector('.brand .mark')
  if (mark === null) return
  mark.removeAttribute('data-held')
  // Reading a size makes the browser notice that the attribute was away.
  mark.getBoundingClientRect()
  mark.setAttribute('data-held', '')
}

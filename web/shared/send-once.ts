/** Milliseconds after which a form may be sent again: somebody may have stopped the page that was to come. */
const LONG = 10_000

/**
 * Ignores a second click on what sends a form while the page that answers is on its way: the browser would drop that page
 * and send the form again, which then finds that a name is taken, or a link used.
 */
export function sendFormsOnce(): void {
  const sent = new Set<EventTarget>()
  addEventListener('submit', (event) => {
    const form = event.target
    // Forms of scripts send nothing by themselves.
    if (event.defaultPrevented || !(form instanceof HTMLFormElement) || form.method !== 'post') return
    if (sent.has(form)) event.preventDefault()
    sent.add(form)
    setTimeout(() => sent.delete(form), LONG)
  })
  // Somebody has come back from the answer.
  addEventListener('pageshow', () => sent.clear())
}

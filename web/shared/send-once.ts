/** Milliseconds after which a form may be sent again: the user may have stopped the navigation. */
const LONG = 10_000

/** The browser would send the form again, which then finds a name taken or a link used. */
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
  // The user came back from the answer.
  addEventListener('pageshow', () => sent.clear())
}

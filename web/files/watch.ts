/** Milliseconds until an answer that was an error is asked for again; a connection that broke the browser mends itself. */
const LATER = 30_000

/**
 * Tells when something of the account has changed, by whomever. What was missed while the connection was broken is told
 * when it is back. Returns what ends it.
 */
export function watchChanges(changed: () => void): () => void {
  let events: EventSource | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  function open(): void {
    events = new EventSource('/api/v1/events')
    events.addEventListener('change', changed)
    events.addEventListener('reload', changed)
    events.addEventListener('error', () => {
      if (events?.readyState !== EventSource.CLOSED) return
      timer = setTimeout(open, LATER)
    })
  }

  open()
  return () => {
    clearTimeout(timer)
    events?.close()
  }
}

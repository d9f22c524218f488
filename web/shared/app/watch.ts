import type { EventKind } from '../../../src/domain/event-kinds.ts'

/** Milliseconds before an error answer is retried, doubled each time. Browsers retry a broken connection. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [30_000, 15 * 60_000]

interface Watchers {
  /** The account has changed; also called once per connection, which may follow missed events. */
  readonly changed: () => void
  readonly nearlyFull: () => void
}

/** A hidden page has no connection: over HTTP/1.1 browsers have few per server. */
export function watchAccount({ changed, nearlyFull }: Watchers): () => void {
  let events: EventSource | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let pause = FIRST_PAUSE

  function open(): void {
    close()
    if (document.hidden) return
    events = new EventSource('/api/v1/events')
    events.addEventListener('ready', () => {
      pause = FIRST_PAUSE
      changed()
    })
    events.addEventListener('change', changed)
    events.addEventListener('reload', changed)
    events.addEventListener('link', ({ data }: MessageEvent<string>) => {
      const event: { readonly kind?: EventKind } = JSON.parse(data)
      if (event.kind === 'storage.nearly_full') nearlyFull()
    })
    events.addEventListener('error', () => {
      if (events?.readyState !== EventSource.CLOSED) return
      // The page's own requests find out why, and show it where it matters.
      if (pause === FIRST_PAUSE) changed()
      timer = setTimeout(open, pause)
      pause = Math.min(LONGEST_PAUSE, pause * 2)
    })
  }

  function close(): void {
    clearTimeout(timer)
    events?.close()
  }

  open()
  document.addEventListener('visibilitychange', open)
  return () => {
    document.removeEventListener('visibilitychange', open)
    close()
  }
}

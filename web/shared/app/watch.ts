import type { EventKind } from '../../../src/domain/link-event.ts'

/**
 * Milliseconds until an answer that was an error is asked for again: doubled each time, since it may stay one, as for whoever
 * has been signed out. A connection that broke the browser mends itself.
 */
const [FIRST_PAUSE, LONGEST_PAUSE] = [30_000, 15 * 60_000]

interface Watchers {
  /** Something of the account has changed, by whomever; with every connection once: before it something may have been missed. */
  readonly changed: () => void
  /** The server has told that storage is nearly full. */
  readonly nearlyFull: () => void
}

/**
 * Tells what happens in the account. A page that nobody sees has no connection, because browsers have few for all pages of a
 * server that speaks HTTP/1.1. Returns what ends it.
 */
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
      // The page finds out why, and says it where that concerns whoever looks at it.
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

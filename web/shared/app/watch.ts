import type { EventKind } from '../../../src/domain/link-event.ts'

/** Milliseconds until an answer that was an error is asked for again; a connection that broke the browser mends itself. */
const LATER = 30_000

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

  function open(): void {
    close()
    if (document.hidden) return
    events = new EventSource('/api/v1/events')
    events.addEventListener('ready', changed)
    events.addEventListener('change', changed)
    events.addEventListener('reload', changed)
    events.addEventListener('link', ({ data }: MessageEvent<string>) => {
      const event: { readonly kind?: EventKind } = JSON.parse(data)
      if (event.kind === 'storage.nearly_full') nearlyFull()
    })
    events.addEventListener('error', () => {
      if (events?.readyState !== EventSource.CLOSED) return
      timer = setTimeout(open, LATER)
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

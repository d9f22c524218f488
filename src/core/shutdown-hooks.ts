import { endsWithin } from '../domain/abort.ts'
import { SECOND } from '../domain/clock.ts'
import type { Log } from '../log.ts'

/** Time limit for closing each part once all requests have ended. */
const CLOSING_MAY_TAKE = 10 * SECOND

/** Open resources, closed in reverse order when the server stops or fails to start. */
export interface ShutdownHooks {
  /**
   * Registers `close`; the returned function closes earlier, at most once. A close that exceeds the limit is
   * abandoned in the state that a kill would leave, which every part survives.
   */
  add(what: string, close: () => Promise<void>): () => Promise<void>
  /** Registers a close without a time limit. */
  addSlow(close: () => void | Promise<void>): void
  all(): Promise<void>
}

export function createShutdownHooks(log: Log): ShutdownHooks {
  const open = new AsyncDisposableStack()
  return {
    add(what, close) {
      let closed: Promise<void> | null = null
      const attempt = async () => {
        if (await endsWithin(CLOSING_MAY_TAKE, close())) return
        log.warn({ what }, 'stopping without waiting any longer')
      }
      const once = () => (closed ??= attempt())
      open.defer(once)
      return once
    },
    addSlow: (close) => open.defer(close),
    all: () => open.disposeAsync(),
  }
}

import { endsWithin } from '../domain/abort.ts'
import { SECOND } from '../domain/clock.ts'
import type { Log } from '../log.ts'

/** Time limit per resource, after all requests have ended. */
const CLOSING_MAY_TAKE = 10 * SECOND

/** Resources are closed in reverse order when the server stops or fails to start. */
export interface ShutdownHooks {
  /** The returned function closes earlier, once. After the time limit a close is abandoned, like after a kill. */
  add(what: string, close: () => Promise<void>): () => Promise<void>
  /** Without a time limit. */
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

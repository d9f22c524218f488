import type { ChangeRow } from '../core/changes.rows.ts'
import { type Clock, SECOND } from '../domain/clock.ts'
import type { ChangeId } from '../domain/ids.ts'

/**
 * `ready`: all changes after `at` follow. `reload`: as `ready`, but earlier changes may have been missed. `still`:
 * nothing has happened for a while.
 */
export type WatcherMessage =
  | { readonly kind: 'ready' | 'reload' | 'still'; readonly at: ChangeId }
  | { readonly kind: 'change'; readonly at: ChangeId; readonly change: ChangeRow }

export interface Watcher {
  /** The next message; null at the end. Calls must not overlap. */
  next(): Promise<WatcherMessage | null>
  end(): void
}

export interface OwnWatcher extends Watcher {
  tell(change: ChangeRow): void
  reload(at: ChangeId): void
  beat(now: number): void
  ask(): Promise<void>
}

const MOST_WAITING = 256

/** Milliseconds of silence before `still`: shorter than proxies' idle time-outs. */
const SILENCE = 15 * SECOND

export function createWatcher(parts: {
  clock: Clock
  isAllowed: () => Promise<boolean>
  first: WatcherMessage
  onEnd: () => void
}): OwnWatcher {
  const { clock, isAllowed, first, onEnd } = parts
  const waiting: WatcherMessage[] = [first]
  let seen = first.at
  let toldAt = clock.monotonic()
  let isOver = false
  let wanted: ((told: WatcherMessage | null) => void) | null = null

  function push(told: WatcherMessage): void {
    toldAt = clock.monotonic()
    if (wanted === null) {
      waiting.push(told)
      return
    }
    const give = wanted
    wanted = null
    give(told)
  }

  const watcher: OwnWatcher = {
    next() {
      const told = waiting.shift()
      if (told !== undefined) return Promise.resolve(told)
      if (isOver) return Promise.resolve(null)
      return new Promise((resolve) => {
        wanted = resolve
      })
    },

    end() {
      if (isOver) return
      isOver = true
      waiting.length = 0
      wanted?.(null)
      wanted = null
      onEnd()
    },

    tell(change) {
      if (isOver || change.id <= seen) return
      if (waiting.length >= MOST_WAITING) return watcher.reload(change.id)
      seen = change.id
      push({ kind: 'change', at: seen, change })
    },

    reload(at) {
      if (isOver) return
      seen = at
      waiting.length = 0
      push({ kind: 'reload', at })
    },

    beat(now) {
      if (isOver || waiting.length > 0 || now - toldAt < SILENCE) return
      push({ kind: 'still', at: seen })
    },

    async ask() {
      if (isOver) return
      const mayGoOn = await isAllowed().catch(() => false)
      if (!mayGoOn) watcher.end()
    },
  }
  return watcher
}

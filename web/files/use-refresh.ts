import { useEffect } from 'react'
import { watchAccount } from '../shared/app/watch.ts'
import { isSessionOver, watchSession } from '../shared/session.ts'
import type { UploadEngine } from '../uploads/engine.ts'
import type { Manager } from './manager.ts'

/** Milliseconds in which changes are gathered. */
const GATHERED = 300

/** Refreshes when the server notifies, an upload is done, or the network or the user is back. */
export function useRefresh(manager: Manager, engine: UploadEngine): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        void manager.refresh()
      }, GATHERED)
    }
    const unwatch = watchAccount({ changed: soon, nearlyFull: () => void manager.storage.look() })
    const unwatchSession = watchSession(() => {
      if (!isSessionOver()) manager.operations.retry()
    })
    const listening = new AbortController()
    const { signal } = listening
    addEventListener(
      'online',
      () => {
        manager.operations.retry()
        soon()
      },
      { signal },
    )
    document.addEventListener(
      'visibilitychange',
      () => {
        if (document.visibilityState === 'visible') soon()
      },
      { signal },
    )
    let done = doneCount(engine)
    const unsubscribe = engine.subscribe(() => {
      const now = doneCount(engine)
      if (now > done) {
        soon()
        void manager.storage.look()
      }
      done = now
    })
    return () => {
      clearTimeout(timer)
      listening.abort()
      unsubscribe()
      unwatch()
      unwatchSession()
    }
  }, [manager, engine])
}

function doneCount(engine: UploadEngine): number {
  return engine.snapshot().items.filter(({ state }) => state.kind === 'done').length
}

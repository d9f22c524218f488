import type { Timers } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { UploadsUnderWay } from '../call.ts'

export interface StoppableUploads extends UploadsUnderWay {
  /** Resolves without uploads. Aborts resumable ones at once, keeping bytes; the others after `milliseconds`. */
  finished(milliseconds: number): Promise<void>
}

export function shuttingDown(): Refusal {
  return new Refusal('SHUTTING_DOWN', 'The server is restarting; try again', 5)
}

export function createUploadsUnderWay(timers: Timers): StoppableUploads {
  const running = new Map<(reason: Refusal) => void, 'whole' | 'resumable'>()
  let idle: (() => void) | null = null

  return {
    count: () => running.size,

    begin(end, kind) {
      running.set(end, kind)
      return () => {
        running.delete(end)
        if (running.size === 0) idle?.()
      }
    },

    async finished(milliseconds) {
      if (running.size === 0) return
      const gone = new Promise<void>((resolve) => {
        idle = resolve
      })
      const endAll = (...kinds: readonly ('whole' | 'resumable')[]) => {
        for (const [end, kind] of [...running]) if (kinds.includes(kind)) end(shuttingDown())
      }
      endAll('resumable')
      const cancel = timers.after(milliseconds, () => endAll('resumable', 'whole'))
      await gone
      cancel()
    },
  }
}

import type { Timers } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { UploadsUnderWay } from '../call.ts'

export interface StoppableUploads extends UploadsUnderWay {
  /** Resolves once no upload is running; after `milliseconds` the remaining ones are aborted. */
  finished(milliseconds: number): Promise<void>
}

export function createUploadsUnderWay(timers: Timers): StoppableUploads {
  const running = new Set<(reason: Refusal) => void>()
  let idle: (() => void) | null = null

  return {
    count: () => running.size,

    begin(end) {
      running.add(end)
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
      const cancel = timers.after(milliseconds, () => {
        for (const end of running) end(new Refusal('SHUTTING_DOWN', 'The server is restarting; try again', 5))
      })
      await gone
      cancel()
    },
  }
}

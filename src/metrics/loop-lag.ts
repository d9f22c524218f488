import type { Family } from './exposition.ts'
import { createHistogram } from './histogram.ts'

export interface LoopLag {
  families(): readonly Family[]
  stop(): void
}

/** Milliseconds between looks: often enough to meet what holds everybody up, and nothing to feel. */
const EVERY = 100
const SECONDS = [0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5]

/** How late timers are: for so long every other request has waited too. */
export function watchLoopLag(): LoopLag {
  const lag = createHistogram(SECONDS)
  // The clock of tests stands still, and this is about the time of the machine.
  let due = performance.now() + EVERY
  const timer = setInterval(() => {
    const now = performance.now()
    lag.observe(Math.max(0, now - due) / 1000)
    due = now + EVERY
  }, EVERY)
  timer.unref()
  return {
    families: () => [
      {
        name: 'holdfast_event_loop_lag_seconds',
        help: 'How late a timer is that looks ten times a second.',
        type: 'histogram',
        samples: lag.samples(),
      },
    ],
    stop: () => clearInterval(timer),
  }
}

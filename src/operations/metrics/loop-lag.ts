import type { Family } from './exposition.ts'
import { createHistogram } from './histogram.ts'

export interface LoopLag {
  families(): readonly Family[]
  stop(): void
}

/** Milliseconds between samples: frequent enough to catch blocking work, at negligible cost. */
const EVERY = 100
const SECONDS = [0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5]

/** Measures event loop lag by how late a timer fires; requests are delayed as much. */
export function watchLoopLag(): LoopLag {
  const lag = createHistogram(SECONDS)
  // The machine's clock, because the injected clock of tests does not advance.
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

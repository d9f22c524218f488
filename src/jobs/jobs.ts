import { HOUR, MINUTE, SECOND } from '../domain/clock.ts'
import type { Cleaning } from '../services/cleaning.ts'
import type { Expiry } from '../services/expiry.ts'
import type { RateLimits } from '../services/rate-limits.ts'
import type { Rooms } from '../services/room.ts'
import type { StoreHealth } from '../services/store-health.ts'
import type { Usage } from '../services/usage.ts'

/** Something that runs by itself: safe to repeat, and never twice at the same time. */
export interface Job {
  readonly name: string
  /** Milliseconds between the end of one run and the next. */
  readonly every: number
  readonly run: () => Promise<void>
}

/** The jobs in the order in which one may feed the next. */
export function allJobs(services: {
  usage: Usage
  rates: RateLimits
  health: StoreHealth
  expiry: Expiry
  cleaning: Cleaning
  rooms: Rooms
}): readonly Job[] {
  const { usage, rates, health, expiry, cleaning, rooms } = services
  return [
    { name: 'write counters', every: SECOND, run: () => usage.flush() },
    { name: 'write rate windows', every: SECOND, run: () => rates.flush() },
    { name: 'probe a broken store', every: 10 * SECOND, run: () => health.recover() },
    { name: 'give back room', every: 5 * SECOND, run: () => rooms.endUnended() },
    { name: 'hide unused files', every: 20 * SECOND, run: () => expiry.mark() },
    { name: 'purge unused files', every: HOUR, run: () => expiry.purge() },
    { name: 'purge deleted files', every: 5 * SECOND, run: () => cleaning.purgeDeleted() },
    { name: 'remove garbage', every: MINUTE / 4, run: () => cleaning.removeGarbage() },
  ]
}

export interface Runner {
  /** Every job once, now, one after another. */
  runAll(): Promise<void>
  /** No job starts any more; returns when the running ones are through. */
  stop(): Promise<void>
}

/** Runs each job in its rhythm. A failure is reported and the job tried again at its next time. */
export function startJobs(jobs: readonly Job[], report: (job: string, error: unknown) => void): Runner {
  let stopped = false
  const running = new Map<string, Promise<void>>()
  const timers = new Map<string, Timer>()

  async function attempt(job: Job): Promise<void> {
    try {
      await job.run()
    } catch (error) {
      report(job.name, error)
    }
  }

  /** Joins a run that is under way rather than starting a second one beside it. */
  function once(job: Job): Promise<void> {
    const present = running.get(job.name)
    if (present !== undefined) return present
    const run = attempt(job).finally(() => running.delete(job.name))
    running.set(job.name, run)
    return run
  }

  function schedule(job: Job): void {
    const timer = setTimeout(async () => {
      await once(job)
      if (!stopped) schedule(job)
    }, job.every)
    timers.set(job.name, timer)
  }

  for (const job of jobs) schedule(job)

  return {
    async runAll() {
      for (const job of jobs) {
        await running.get(job.name)
        await once(job)
      }
    },

    async stop() {
      stopped = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all(running.values())
    },
  }
}

import { jobsFailing } from '../database/figures.ts'
import { dropJobs, findJob, type JobNote, keepJob, releaseJob, takeJob } from '../database/jobs.ts'
import type { Db } from '../database/schema.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import type { Nodes } from './nodes.ts'

/** Jobs that one node at a time runs for all. */
export interface Claims {
  /**
   * The right to run the job now. Null while somebody runs it, less than `every` milliseconds after it ended, and
   * for a day after it has failed `SET_ASIDE_AFTER` times in a row. With `every` null only a run under way counts.
   */
  claim(job: string, every: number | null): Promise<Claim | null>
  /** The jobs that are set aside for a day now. */
  setAside(): Promise<readonly string[]>
}

export interface Claim {
  /** Failures in a row before this run. */
  readonly failures: number
  /** To be asked between steps: false when this node may have been taken for dead, and the job taken over. */
  isHeld(): boolean
  /** Gives the right back, once. What somebody else has taken over by now is left to them. `failure`: what went wrong. */
  end(outcome: Outcome, failure?: string): Promise<void>
}

/**
 * `done` and `failed` are the job's own doing. `postponed` is an outage that it cannot help: it comes again in its
 * rhythm. `left` in the middle, it may be gone on with at once.
 */
export type Outcome = 'done' | 'failed' | 'postponed' | 'left'

/** A job that fails this often in a row is set aside for a day, so that it cannot keep every node busy failing. */
export const SET_ASIDE_AFTER = 5

/** Timers and wall clocks do not agree to the millisecond. */
const NEARLY = 0.9

type History = Pick<JobNote, 'ended_at' | 'failures'>

/** An end in the future was noted by a wrong clock. */
function isDue({ ended_at, failures }: History, every: number | null, now: number): boolean {
  if (every === null || ended_at === null || ended_at > now) return true
  return now - ended_at >= (failures >= SET_ASIDE_AFTER ? DAY : every * NEARLY)
}

function noted(outcome: Outcome, failures: number, now: number, failure: string): Partial<JobNote> {
  switch (outcome) {
    case 'done':
      return { ended_at: now, failures: 0, failure: null, failed_at: null }
    case 'failed':
      return { ended_at: now, failures: failures + 1, failure, failed_at: now }
    case 'postponed':
      return { ended_at: now, failure, failed_at: now }
    case 'left':
      return {}
  }
}

/** Where the failures of a node alone are told to others: to the command line, which can have a job tried again. */
export interface KeptFailures {
  keep(job: string, note: JobNote): Promise<void>
  forget(job: string): Promise<void>
  /** Whether somebody wants it to be tried again. */
  isRetried(job: string): Promise<boolean>
}

export function keptFailures(db: Db): KeptFailures {
  return {
    keep: (job, note) => keepJob(db, job, note),
    forget: (job) => dropJobs(db, job),
    isRetried: async (job) => (await findJob(db, job))?.failures === 0,
  }
}

const keptNowhere: KeptFailures = { async keep() {}, async forget() {}, isRetried: async () => false }

const NEVER_RUN: JobNote = { ended_at: null, failures: 0, failure: null, failed_at: null }

/** What a node alone knows of its jobs. */
export interface LocalClaims extends Claims {
  history(): readonly (JobNote & { readonly name: string; readonly isRunning: boolean })[]
}

/** For a node alone: kept in memory, so that an idle disk stays idle. Failures alone are written. */
export function createLocalClaims(clock: Clock, failures: KeptFailures = keptNowhere): LocalClaims {
  const histories = new Map<string, JobNote>()
  const running = new Set<string>()

  /** How it went until now, if it is the job's turn. */
  async function historyOfDue(job: string, every: number | null): Promise<JobNote | null> {
    const history = histories.get(job) ?? NEVER_RUN
    if (isDue(history, every, clock.now())) return history
    const isSetAside = history.failures >= SET_ASIDE_AFTER
    return isSetAside && (await failures.isRetried(job)) ? { ...history, failures: 0 } : null
  }

  return {
    async claim(job, every) {
      if (running.has(job)) return null
      running.add(job)
      const history = await historyOfDue(job, every).catch((error: unknown) => {
        running.delete(job)
        throw error
      })
      if (history === null) {
        running.delete(job)
        return null
      }
      return {
        failures: history.failures,
        isHeld: () => true,
        async end(outcome, failure = '') {
          running.delete(job)
          const next = { ...history, ...noted(outcome, history.failures, clock.now(), failure) }
          histories.set(job, next)
          if (next.failure !== null) await failures.keep(job, next)
          else if (history.failure !== null) await failures.forget(job)
        },
      }
    },

    history: () =>
      [...new Set([...histories.keys(), ...running])].map((name) => ({
        name,
        ...(histories.get(name) ?? NEVER_RUN),
        isRunning: running.has(name),
      })),

    async setAside() {
      const failing = [...histories].filter(([, { failures }]) => failures >= SET_ASIDE_AFTER)
      return failing.map(([job]) => job)
    },
  }
}

/** For nodes that share a database. A claim is a lease that lasts as long as its node is taken for alive. */
export function createSharedClaims(db: Db, nodes: Nodes, clock: Clock): Claims {
  /** Jobs under way here. What is in the database under this node's id and not here was never released there. */
  const running = new Set<string>()

  return {
    async claim(job, every) {
      if (running.has(job) || !nodes.isSurelyAlive()) return null
      running.add(job)
      let isOurs = false
      try {
        const node = nodes.id()
        const row = await findJob(db, job)
        const isFree = row === undefined || row.holder === null || row.holder === node
        const history = row ?? { ended_at: null, failures: 0 }
        if (!isFree || !isDue(history, every, clock.now())) return null
        isOurs = await takeJob(db, job, node, row)
        if (!isOurs) return null
        return {
          failures: history.failures,
          isHeld: () => nodes.id() === node && nodes.isSurelyAlive(),
          async end(outcome, failure = '') {
            running.delete(job)
            await releaseJob(db, job, node, noted(outcome, history.failures, clock.now(), failure))
          },
        }
      } finally {
        if (!isOurs) running.delete(job)
      }
    },

    setAside: () => jobsFailing(db, SET_ASIDE_AFTER),
  }
}

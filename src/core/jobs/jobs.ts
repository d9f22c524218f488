import { type CancelTimer, MINUTE, sleep, type Timers } from '../../domain/clock.ts'
import type { Log } from '../../log.ts'
import { outageRefusal } from '../failures.ts'
import { type JobClaim, type JobClaims, type JobOutcome, SET_ASIDE_AFTER } from './job-leases.ts'

/** Idempotent background work that never runs twice concurrently on one node. */
export interface Job {
  readonly name: string
  readonly on: 'every node' | 'one node'
  /** Milliseconds between two runs. */
  readonly every: number
  /** Without work a due run does not begin, so an idle service writes no leases. At most two cheap look-ups. */
  readonly hasWork?: () => Promise<boolean>
  /** Long runs must ask `mayGoOn` between steps and stop when it returns false. */
  readonly run: (mayGoOn: () => boolean) => Promise<void>
}

export interface Runner {
  /** Runs every job once, in sequence, also if not due. Waits for runs on other nodes, then runs those jobs again. */
  runAll(): Promise<void>
  /** Starts no more jobs; resolves when running ones have stopped. */
  stop(): Promise<void>
}

/** Called at the start of a run; the returned function receives the outcome. */
export type JobWatch = (job: string) => (outcome: JobOutcome) => void

const unwatched: JobWatch = () => () => {}

interface JobSurroundings {
  readonly timers: Timers
  readonly log: Log
  readonly watch?: JobWatch | undefined
}

/** Milliseconds between attempts to lease a job that another node runs. */
const CLAIM_RETRY = 20

/** Milliseconds after which a job runs without work: its success clears reported failures. */
const RUN_ANYWAY = 10 * MINUTE

/** Shared jobs need a lease. A failed job runs at its next time, or a day later if it keeps failing. */
export function startJobs(
  jobs: readonly Job[],
  claims: JobClaims,
  { timers, log, watch = unwatched }: JobSurroundings,
): Runner {
  let stopped = false
  const tellFailure = failureLog(log, timers)
  const running = new Map<string, Promise<boolean>>()
  const scheduled = new Map<string, CancelTimer>()
  /** By the timers' clock, for jobs with `hasWork`. */
  const triedAt = new Map<string, number>()

  async function isIdle({ name, hasWork }: Job): Promise<boolean> {
    if (hasWork === undefined) return false
    const now = timers.monotonic()
    if (now - (triedAt.get(name) ?? Number.NEGATIVE_INFINITY) < RUN_ANYWAY && !(await hasWork())) return true
    triedAt.set(name, now)
    return false
  }

  async function runHere(job: Job): Promise<void> {
    const ended = watch(job.name)
    try {
      await job.run(() => !stopped)
      ended('done')
    } catch (error) {
      ended(outageRefusal(error) === null ? 'failed' : 'postponed')
      throw error
    }
  }

  /** False without a lease. Never throws. */
  async function attempt(job: Job, every: number | null): Promise<boolean> {
    try {
      if (job.on === 'every node') {
        await runHere(job)
        return true
      }
      if (every !== null && (await isIdle(job))) return true
      const claim = await claims.claim(job.name, every)
      if (claim === null) return false
      const ended = watch(job.name)
      const { outcome, failure } = await runClaimed(
        { log, tellFailure },
        job,
        claim,
        () => !stopped && claim.isHeld(),
      )
      ended(outcome)
      await claim.end(outcome, failure)
    } catch (error) {
      tellFailure(job, error)
    }
    return true
  }

  /** Joins a run under way instead of starting a second one. */
  function once(job: Job, every: number | null): Promise<boolean> {
    const present = running.get(job.name)
    if (present !== undefined) return present
    const run = attempt(job, every).finally(() => running.delete(job.name))
    running.set(job.name, run)
    return run
  }

  function schedule(job: Job): void {
    const cancel = timers.after(job.every, async () => {
      await once(job, job.every)
      if (!stopped) schedule(job)
    })
    scheduled.set(job.name, cancel)
  }

  for (const job of jobs) schedule(job)

  return {
    async runAll() {
      for (const job of jobs) {
        await running.get(job.name)
        while (!(await once(job, null)) && !stopped) await sleep(timers, CLAIM_RETRY)
      }
    },

    async stop() {
      stopped = true
      for (const cancel of scheduled.values()) cancel()
      await Promise.all(running.values())
    },
  }
}

/** Never throws: a failure is logged and returned. */
async function runClaimed(
  { log, tellFailure }: { readonly log: Log; readonly tellFailure: FailureLog },
  job: Job,
  { failures }: JobClaim,
  mayGoOn: () => boolean,
): Promise<{ outcome: JobOutcome; failure?: string }> {
  if (failures >= SET_ASIDE_AFTER) {
    log.warn({ job: job.name, failures }, 'a background job that was set aside is tried again')
  }
  try {
    await job.run(mayGoOn)
    return { outcome: mayGoOn() ? 'done' : 'left' }
  } catch (error) {
    const failure = told(error)
    if (outageRefusal(error) !== null) {
      tellFailure(job, error)
      return { outcome: 'postponed', failure }
    }
    if (failures + 1 < SET_ASIDE_AFTER) tellFailure(job, error)
    else {
      const fields = { job: job.name, failures: failures + 1, err: error }
      log.error(fields, 'a background job failed too often in a row and is set aside for a day')
    }
    return { outcome: 'failed', failure }
  }
}

type FailureLog = (job: Job, error: unknown) => void

/** Log interval during an outage, which fails every job. */
const OUTAGE_AGAIN = MINUTE

function failureLog(log: Log, timers: Timers): FailureLog {
  let toldAt = Number.NEGATIVE_INFINITY
  return (job, error) => {
    if (outageRefusal(error) === null) {
      log.error({ job: job.name, err: error }, 'a background job failed')
      return
    }
    const now = timers.monotonic()
    if (now - toldAt < OUTAGE_AGAIN) return
    toldAt = now
    const fields = { job: job.name, reason: told(error) }
    log.error(fields, 'the database or the store does not answer: background jobs wait until it does')
  }
}

const LONGEST_FAILURE = 500

/** First line, for administrators; the log has the rest. */
function told(error: unknown): string {
  return String(error).split('\n', 1)[0]?.slice(0, LONGEST_FAILURE) ?? ''
}

import { HOUR, MINUTE, SECOND } from '../domain/clock.ts'
import type { Log } from '../log.ts'
import type { Accounts } from '../services/accounts.ts'
import type { BinEmptying } from '../services/bin-emptying.ts'
import type { BinRestoring } from '../services/bin-restoring.ts'
import type { Changes } from '../services/changes.ts'
import type { Cleaning } from '../services/cleaning.ts'
import type { DiskWatch } from '../services/disk-space.ts'
import type { Expiry } from '../services/expiry.ts'
import { outageRefusal } from '../services/failures.ts'
import type { FileWarnings } from '../services/file-warnings.ts'
import type { FolderClearing } from '../services/folder-clearing.ts'
import type { Idempotency } from '../services/idempotency.ts'
import { type Claim, type Claims, type Outcome, SET_ASIDE_AFTER } from '../services/job-claims.ts'
import type { MailForgetting } from '../services/mail-forgetting.ts'
import type { MailSending } from '../services/mail-sending.ts'
import { BEAT, type Nodes } from '../services/nodes.ts'
import type { Notices } from '../services/notices.ts'
import type { Outages } from '../services/outages.ts'
import type { PasswordResets } from '../services/password-resets.ts'
import type { RateLimits } from '../services/rate-limits.ts'
import type { Reports } from '../services/reports.ts'
import type { Resumable } from '../services/resumable.ts'
import type { Rooms } from '../services/room.ts'
import type { Sessions } from '../services/sessions.ts'
import type { Statistics } from '../services/statistics.ts'
import type { StoreHealth } from '../services/store-health.ts'
import type { TakeDowns } from '../services/take-downs.ts'
import type { ThumbnailMaking } from '../services/thumbnail-making.ts'
import type { TrafficCounter } from '../services/traffic.ts'
import type { Usage } from '../services/usage.ts'

/** Something that runs by itself: safe to repeat, and never twice at the same time in one node. */
export interface Job {
  readonly name: string
  /** Whether every node runs it for itself, or one node at a time for all of them. */
  readonly on: 'every node' | 'one node'
  /** Milliseconds between the end of one run and the next. */
  readonly every: number
  /** A long run asks `mayGoOn` between its steps, and stops when the answer is no. */
  readonly run: (mayGoOn: () => boolean) => Promise<void>
}

/** The jobs in the order in which one may feed the next. */
export function allJobs(services: {
  nodes: Nodes
  diskWatch: DiskWatch
  outages: Outages
  usage: Usage
  rates: RateLimits
  health: StoreHealth
  expiry: Expiry
  clearing: FolderClearing
  cleaning: Cleaning
  rooms: Rooms
  resumable: Resumable
  idempotency: Idempotency
  thumbnails: ThumbnailMaking | null
  reports: Reports
  accounts: Accounts
  sessions: Sessions
  binRestoring: BinRestoring
  binEmptying: BinEmptying
  changes: Changes
  takeDowns: TakeDowns
  notices: Notices
  traffic: TrafficCounter
  statistics: Statistics
  fileWarnings: FileWarnings
  passwordResets: PasswordResets
  mailForgetting: MailForgetting
  sending: MailSending | null
}): readonly Job[] {
  const { nodes, diskWatch, outages, usage, rates, health, expiry, clearing, cleaning, rooms } = services
  const { resumable, idempotency, thumbnails, reports, accounts, sessions } = services
  const { binRestoring, binEmptying, changes, takeDowns, notices, traffic, statistics } = services
  const { fileWarnings, passwordResets, mailForgetting, sending } = services
  const forItself = [
    { name: 'beat', every: BEAT, run: () => nodes.beat() },
    { name: 'watch other nodes', every: BEAT, run: () => nodes.removeDead() },
    { name: 'watch the disk', every: 10 * SECOND, run: () => diskWatch.watch() },
    { name: 'note that the service runs', every: MINUTE, run: () => outages.note() },
    { name: 'write counters', every: SECOND, run: () => usage.flush() },
    { name: 'write traffic', every: 10 * SECOND, run: () => traffic.flush() },
    { name: 'read the notice', every: 2 * SECOND, run: () => notices.refresh() },
    { name: 'write rate windows', every: SECOND, run: () => rates.flush() },
    { name: 'probe a broken store', every: 10 * SECOND, run: () => health.recover() },
    { name: 'give back room', every: 5 * SECOND, run: () => rooms.endUnended() },
    { name: 'release uploads', every: 5 * SECOND, run: () => resumable.sittings.releaseLeft() },
    // Also what this node itself has left in the middle, which no other can tell from work under way.
    { name: 'finish uploads', every: 10 * SECOND, run: resumable.finishing.takeUpAll },
    // What others have left; a node is told at once of what it has taken in itself.
    ...(thumbnails === null ? [] : [{ name: 'make thumbnails', every: MINUTE / 2, run: thumbnails.run }]),
  ]
  const forAll: readonly Omit<Job, 'on'>[] = [
    { name: 'end uploads of dead nodes', every: 10 * SECOND, run: cleaning.sweepDead },
    { name: 'give up unused uploads', every: MINUTE, run: resumable.expiry.run },
    { name: 'forget old idempotency keys', every: 10 * MINUTE, run: () => idempotency.forgetOld() },
    { name: 'go on with taking down', every: 10 * SECOND, run: takeDowns.run },
    { name: 'note totals', every: 10 * MINUTE, run: () => statistics.sample() },
    { name: 'keep warned files', every: 10 * SECOND, run: fileWarnings.keepRest },
    { name: 'warn of unused files', every: HOUR, run: fileWarnings.warn },
    { name: 'hide unused files', every: 20 * SECOND, run: expiry.mark },
    { name: 'purge unused files', every: HOUR, run: expiry.purge },
    { name: 'bring back from bins', every: SECOND, run: binRestoring.run },
    { name: 'empty bins', every: 10 * SECOND, run: binEmptying.run },
    { name: 'clear deleted folders', every: SECOND, run: clearing.run },
    { name: 'purge deleted files', every: 5 * SECOND, run: cleaning.purgeDeleted },
    { name: 'forget removed accounts', every: MINUTE, run: accounts.dropRemoved },
    { name: 'forget ended sessions', every: HOUR, run: sessions.dropEnded },
    { name: 'forget old changes', every: 10 * MINUTE, run: changes.forgetOld },
    { name: 'forget old reports', every: HOUR, run: reports.forgetOld },
    { name: 'remove garbage', every: MINUTE / 4, run: cleaning.removeGarbage },
    { name: 'forget outcomes of transactions', every: MINUTE, run: cleaning.forgetOutcomes },
    { name: 'forget old mails', every: 10 * MINUTE, run: mailForgetting.run },
    // Somebody sits there and waits for it.
    ...(sending === null
      ? []
      : [
          {
            name: 'send mails',
            every: SECOND,
            run: async (mayGoOn: () => boolean) => {
              await passwordResets.answerAll(mayGoOn)
              await sending.run(mayGoOn)
            },
          },
        ]),
  ]
  return [
    ...forItself.map((job) => ({ ...job, on: 'every node' }) as const),
    ...forAll.map((job) => ({ ...job, on: 'one node' }) as const),
  ]
}

export interface Runner {
  /**
   * Every job once, now, one after another, whenever it ran last. What another node is running is waited for and then
   * run again.
   */
  runAll(): Promise<void>
  /** No job starts any more; returns when the running ones have stopped. */
  stop(): Promise<void>
}

/** Told when a run begins here; the function that comes back is told how it ended. */
export type JobWatch = (job: string) => (outcome: Outcome) => void

const unwatched: JobWatch = () => () => {}

/** Milliseconds until a job that another node runs is asked for again. */
const ASK_AGAIN = 20

/**
 * Runs each job in its rhythm, and those for all nodes when this one gets the claim. A failure is logged and the job
 * tried again at its next time, or a day later when it keeps failing.
 */
export function startJobs(
  jobs: readonly Job[],
  claims: Claims,
  log: Log,
  watch: JobWatch = unwatched,
): Runner {
  let stopped = false
  const running = new Map<string, Promise<boolean>>()
  const timers = new Map<string, Timer>()
  const failed = (job: Job, error: unknown) =>
    log.error({ job: job.name, err: error }, 'a background job failed')

  async function runClaimed(job: Job, claim: Claim): Promise<{ outcome: Outcome; failure?: string }> {
    const { failures } = claim
    if (failures >= SET_ASIDE_AFTER) {
      log.warn({ job: job.name, failures }, 'a background job that was set aside is tried again')
    }
    const mayGoOn = () => !stopped && claim.isHeld()
    try {
      await job.run(mayGoOn)
      return { outcome: mayGoOn() ? 'done' : 'left' }
    } catch (error) {
      const failure = told(error)
      if (outageRefusal(error) !== null) {
        failed(job, error)
        return { outcome: 'postponed', failure }
      }
      if (failures + 1 < SET_ASIDE_AFTER) failed(job, error)
      else {
        const fields = { job: job.name, failures: failures + 1, err: error }
        log.error(fields, 'a background job failed too often in a row and is set aside for a day')
      }
      return { outcome: 'failed', failure }
    }
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

  /** False when the job did not get its turn. Never throws. */
  async function attempt(job: Job, every: number | null): Promise<boolean> {
    try {
      if (job.on === 'every node') {
        await runHere(job)
        return true
      }
      const claim = await claims.claim(job.name, every)
      if (claim === null) return false
      const ended = watch(job.name)
      const { outcome, failure } = await runClaimed(job, claim)
      ended(outcome)
      await claim.end(outcome, failure)
    } catch (error) {
      failed(job, error)
    }
    return true
  }

  /** Joins a run that is under way rather than starting a second one beside it. */
  function once(job: Job, every: number | null): Promise<boolean> {
    const present = running.get(job.name)
    if (present !== undefined) return present
    const run = attempt(job, every).finally(() => running.delete(job.name))
    running.set(job.name, run)
    return run
  }

  function schedule(job: Job): void {
    const timer = setTimeout(async () => {
      await once(job, job.every)
      if (!stopped) schedule(job)
    }, job.every)
    timers.set(job.name, timer)
  }

  for (const job of jobs) schedule(job)

  return {
    async runAll() {
      for (const job of jobs) {
        await running.get(job.name)
        while (!(await once(job, null)) && !stopped) await Bun.sleep(ASK_AGAIN)
      }
    },

    async stop() {
      stopped = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all(running.values())
    },
  }
}

const LONGEST_FAILURE = 500

/** The failure in a line, for administrators; the log has all of it. */
function told(error: unknown): string {
  return String(error).split('\n', 1)[0]?.slice(0, LONGEST_FAILURE) ?? ''
}

import type { Database, Trx } from '../../database/database.ts'
import { prepared, preparedChange } from '../../database/prepared.ts'
import type { Row } from '../../database/schema.ts'
import { type Clock, DAY } from '../../domain/clock.ts'
import type { NodeId } from '../../domain/ids.ts'
import { jobsFailing } from '../figures.rows.ts'
import type { Nodes } from '../nodes/nodes.ts'

export interface JobClaims {
  /**
   * Acquires a job's lease. Null during a run, within `every` milliseconds after the last one ended, and for a day
   * after `SET_ASIDE_AFTER` consecutive failures. With `every` null only a run prevents it.
   */
  claim(job: string, every: number | null): Promise<JobClaim | null>
  setAside(): Promise<readonly string[]>
}

export interface JobClaim {
  readonly failures: number
  /** False when this node may have been declared dead and lost the lease. Must be checked between steps. */
  isHeld(): boolean
  /** Releases the lease, once. No effect on a lease that another node took over. `failure`: the error's text. */
  end(outcome: JobOutcome, failure?: string): Promise<void>
}

/** `postponed`: by an outage; runs at its next time. `left`: interrupted between steps; may continue at once. */
export type JobOutcome = 'done' | 'failed' | 'postponed' | 'left'

/** Such a job is set aside for a day, so that it cannot keep every node busy. */
export const SET_ASIDE_AFTER = 5

/** Tolerates small differences between timers and wall clocks. */
const TIMER_TOLERANCE = 0.9

type History = Pick<JobNote, 'ended_at' | 'failures'>

/** An end time in the future was written by a wrong clock and is ignored. */
function isDue({ ended_at, failures }: History, every: number | null, now: number): boolean {
  if (every === null || ended_at === null || ended_at > now) return true
  return now - ended_at >= (failures >= SET_ASIDE_AFTER ? DAY : every * TIMER_TOLERANCE)
}

function noted(outcome: JobOutcome, failures: number, now: number, failure: string): Partial<JobNote> {
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

export interface KeptFailures {
  keep(job: string, note: JobNote): Promise<void>
  forget(job: string): Promise<void>
  isRetried(job: string): Promise<boolean>
}

export function keptFailures(db: Database): KeptFailures {
  return {
    keep: (job, note) => keepJob(db, job, note),
    forget: (job) => dropJobs(db, job),
    isRetried: async (job) => (await findJob(db, job))?.failures === 0,
  }
}

const keptNowhere: KeptFailures = { async keep() {}, async forget() {}, isRetried: async () => false }

const NEVER_RUN: JobNote = { ended_at: null, failures: 0, failure: null, failed_at: null }

export interface LocalClaims extends JobClaims {
  history(): readonly (JobNote & { readonly name: string; readonly isRunning: boolean })[]
}

/** In memory for a single node, so that an idle server writes nothing; only failures are stored. */
export function createLocalClaims(clock: Clock, failures: KeptFailures = keptNowhere): LocalClaims {
  const histories = new Map<string, JobNote>()
  const running = new Set<string>()

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

/** For nodes that share a database. A lease lasts while its node is considered alive. */
export function createSharedClaims(db: Database, nodes: Nodes, clock: Clock): JobClaims {
  /** Jobs running here. A lease of this node's id without an entry was never released. */
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

export interface JobRow {
  /** Leaseholder, alive or dead; `holder` is null for a dead one. */
  readonly node: NodeId | null
  readonly holder: NodeId | null
  readonly ended_at: number | null
  readonly failures: number
}

export async function findJob(db: Database, name: string): Promise<JobRow | undefined> {
  return (await jobNamed(db, name))[0]
}

const jobNamed = prepared((db, name: string) =>
  db
    .selectFrom('jobs')
    .leftJoin('nodes', 'nodes.id', 'jobs.node')
    .select(['jobs.node', 'nodes.id as holder', 'jobs.ended_at', 'jobs.failures'])
    .where('jobs.name', '=', name),
)

/**
 * Takes the lease for the node if the row is still as `seen` (undefined: no row yet): one atomic statement, so one of
 * several nodes succeeds. Node ids are never reused, so a dead holder does not return.
 */
export async function takeJob(
  db: Database,
  name: string,
  node: NodeId,
  seen: JobRow | undefined,
): Promise<boolean> {
  if (seen === undefined) {
    const made = await db
      .insertInto('jobs')
      .values({ name, node })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .executeTakeFirst()
    return (made.numInsertedOrUpdatedRows ?? 0n) > 0n
  }
  return (await claim(db, node, name, seen.node, seen.ended_at)).changed > 0
}

const claim = preparedChange(
  (db, node: NodeId, name: string, seenNode: NodeId | null, seenEnd: number | null) =>
    db
      .updateTable('jobs')
      .set({ node })
      .where('name', '=', name)
      .where('node', 'is not distinct from', seenNode)
      .where('ended_at', 'is not distinct from', seenEnd),
)

/** Releases the lease and stores `noted`; nothing when another node holds it. */
export async function releaseJob(
  db: Database,
  name: string,
  node: NodeId,
  noted: Partial<JobNote>,
): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ node: null, ...noted })
    .where('name', '=', name)
    .where('node', '=', node)
    .execute()
}

export type JobNote = Row<'jobs', 'ended_at' | 'failures' | 'failure' | 'failed_at'>

export interface JobStatusRow extends JobNote {
  readonly name: string
  readonly holder: NodeId | null
}

export function listJobs(db: Database): Promise<JobStatusRow[]> {
  return db
    .selectFrom('jobs')
    .leftJoin('nodes', 'nodes.id', 'jobs.node')
    .select([
      'jobs.name',
      'nodes.id as holder',
      'jobs.ended_at',
      'jobs.failures',
      'jobs.failure',
      'jobs.failed_at',
    ])
    .execute()
}

/** Makes a job with at least that many failures due; false for any other. */
export async function retryJob(trx: Trx, name: string, failures: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('jobs')
    .set({ failures: 0, ended_at: null })
    .where('name', '=', name)
    .where('failures', '>=', failures)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function keepJob(db: Database, name: string, note: JobNote): Promise<void> {
  await db
    .insertInto('jobs')
    .values({ name, ...note })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ ...note }))
    .execute()
}

export async function dropJobs(db: Database, name: string | 'all'): Promise<void> {
  const jobs = db.deleteFrom('jobs')
  await (name === 'all' ? jobs : jobs.where('name', '=', name)).execute()
}

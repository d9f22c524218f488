import { thumbnailsWaiting } from '../database/figures.ts'
import { type JobStatusRow, listJobs, retryJob } from '../database/jobs.ts'
import { listNodes, type NodeRow } from '../database/nodes.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Actor } from '../domain/audit.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { NodeId } from '../domain/ids.ts'
import { noteDeed } from './audit.ts'
import { type LocalClaims, SET_ASIDE_AFTER } from './job-claims.ts'
import type { Nodes } from './nodes.ts'

/** A job that one node at a time runs for all. */
export interface JobStatus {
  readonly name: string
  readonly state: 'waiting' | 'running' | 'set aside'
  /** Where it runs. */
  readonly node: NodeId | null
  readonly endedAt: number | null
  /** Failures in a row. */
  readonly failures: number
  /** What went wrong the last time, and when; null once it has gone well again. */
  readonly failure: string | null
  readonly failedAt: number | null
}

/** What runs by itself, for administrators. */
export interface BackgroundJobs {
  /** Those that have run once at least; where a node is alone, as far as others than itself can know of them. */
  list(): Promise<readonly JobStatus[]>
  /** How many thumbnails are still to be made. */
  thumbnailsWaiting(): Promise<number>
  /** Lets one that is set aside run at its next time. Throws Refusal NOT_FOUND when it is not set aside. */
  retry(actor: Actor, job: string): Promise<void>
  /** Those that share the database. */
  nodes(): Promise<readonly (NodeRow & { readonly isThis: boolean })[]>
}

/** `own`: what only this process knows of its jobs, where it is alone. */
export function createBackgroundJobs(
  db: Db,
  nodes: Nodes | null,
  clock: Clock,
  own: LocalClaims['history'] = () => [],
): BackgroundJobs {
  return {
    async list() {
      const rows = new Map((await listJobs(db)).map((row) => [row.name, row]))
      for (const { isRunning, ...note } of own()) {
        const { failures = note.failures } = rows.get(note.name) ?? {}
        // Somebody may want one that was set aside to be tried again, which this process learns at its next time.
        rows.set(note.name, { ...note, failures, holder: isRunning && nodes !== null ? nodes.id() : null })
      }
      return [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(statusOf)
    },

    thumbnailsWaiting: () => thumbnailsWaiting(db),

    retry: (actor, job) =>
      inTransaction(db, async (trx) => {
        // PostgreSQL takes no NUL in a text, so no job has one in its name.
        if (job.includes('\0') || !(await retryJob(trx, job, SET_ASIDE_AFTER))) {
          throw new Refusal('NOT_FOUND', `The job "${job}" is not set aside; nothing is to be done`)
        }
        await noteDeed(trx, clock, actor, { act: 'job.retried', object: job })
      }),

    async nodes() {
      const rows = await listNodes(db)
      return rows.map((row) => ({ ...row, isThis: row.id === nodes?.id() }))
    },
  }
}

function statusOf(row: JobStatusRow): JobStatus {
  const { name, holder, ended_at, failures, failure, failed_at } = row
  const isSetAside = failures >= SET_ASIDE_AFTER
  return {
    name,
    state: holder !== null ? 'running' : isSetAside ? 'set aside' : 'waiting',
    node: holder,
    endedAt: ended_at,
    failures,
    failure,
    failedAt: failed_at,
  }
}

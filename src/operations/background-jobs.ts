import { recordAuditEntry } from '../core/audit-log.ts'
import { thumbnailsWaiting } from '../core/figures.rows.ts'
import {
  type JobStatusRow,
  type LocalClaims,
  listJobs,
  retryJob,
  SET_ASIDE_AFTER,
} from '../core/jobs/job-leases.ts'
import type { Nodes } from '../core/nodes/nodes.ts'
import { listNodes, type NodeRow } from '../core/nodes/nodes.ts'
import type { Database } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Actor } from '../domain/audit.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { NodeId } from '../domain/ids.ts'

/** Runs on one node at a time. */
export interface JobStatus {
  readonly name: string
  readonly state: 'waiting' | 'running' | 'set aside'
  readonly node: NodeId | null
  readonly endedAt: number | null
  readonly failures: number
  /** Null after a success. */
  readonly failure: string | null
  readonly failedAt: number | null
}

/** `own`: job history that this process keeps in memory. */
export function createBackgroundJobs(
  db: Database,
  nodes: Nodes | null,
  clock: Clock,
  own: LocalClaims['history'] = () => [],
) {
  return {
    /** Jobs that have run at least once. Where leases are in memory, other processes see only failures. */
    async list(): Promise<readonly JobStatus[]> {
      const rows = new Map((await listJobs(db)).map((row) => [row.name, row]))
      for (const { isRunning, ...note } of own()) {
        const { failures = note.failures } = rows.get(note.name) ?? {}
        // The row may hold a requested retry, which this process reads when the job is next due.
        rows.set(note.name, { ...note, failures, holder: isRunning && nodes !== null ? nodes.id() : null })
      }
      return [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(statusOf)
    },

    thumbnailsWaiting: (): Promise<number> => thumbnailsWaiting(db),

    /** Makes a job that is set aside due again. Throws Refusal NOT_FOUND when it is not set aside. */
    retry: (actor: Actor, job: string): Promise<void> =>
      inTransaction(db, async (trx) => {
        // PostgreSQL stores no NUL in texts, so no job name contains one.
        if (job.includes('\0') || !(await retryJob(trx, job, SET_ASIDE_AFTER))) {
          throw new Refusal('NOT_FOUND', `The job "${job}" is not set aside; nothing is to be done`)
        }
        await recordAuditEntry(trx, clock, actor, { act: 'job.retried', object: job })
      }),

    async nodes(): Promise<readonly (NodeRow & { readonly isThis: boolean })[]> {
      const rows = await listNodes(db)
      return rows.map((row) => ({ ...row, isThis: row.id === nodes?.id() }))
    },
  }
}

export type BackgroundJobs = ReturnType<typeof createBackgroundJobs>

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

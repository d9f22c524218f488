import type { BackgroundJob, Node } from '../contract/operations.ts'
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
import { listNodes } from '../core/nodes/nodes.ts'
import type { Database } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Actor } from '../domain/audit.ts'
import { type Clock, optionalTime, timestamp } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'

/** `own`: job history that this process keeps in memory. */
export function createBackgroundJobs(
  db: Database,
  nodes: Nodes | null,
  clock: Clock,
  own: LocalClaims['history'] = () => [],
) {
  return {
    /** Jobs that have run at least once. Where leases are in memory, other processes see only failures. */
    async list(): Promise<readonly BackgroundJob[]> {
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

    async nodes(): Promise<readonly Node[]> {
      const rows = await listNodes(db)
      return rows.map(({ id, started_at, host, address, version }) => ({
        id,
        started_at: timestamp(started_at),
        host,
        address,
        version,
        is_this: id === nodes?.id(),
      }))
    },
  }
}

export type BackgroundJobs = ReturnType<typeof createBackgroundJobs>

function statusOf({ holder, ended_at, failed_at, ...row }: JobStatusRow): BackgroundJob {
  const isSetAside = row.failures >= SET_ASIDE_AFTER
  return {
    name: row.name,
    state: holder !== null ? 'running' : isSetAside ? 'set aside' : 'waiting',
    node: holder,
    ended_at: optionalTime(ended_at),
    failures: row.failures,
    failure: row.failure,
    failed_at: optionalTime(failed_at),
  }
}

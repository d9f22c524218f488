import type { Database, Trx } from '../../database/database.ts'
import { prepared, preparedChange } from '../../database/prepared.ts'
import type { Row } from '../../database/schema.ts'
import type { NodeId } from '../../domain/ids.ts'

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

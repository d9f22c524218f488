import type { NodeId } from '../domain/ids.ts'
import type { Db } from './schema.ts'

export interface JobRow {
  /** The node that claimed it and has not ended it, alive or dead. */
  readonly node: NodeId | null
  /** The same while it is alive. */
  readonly holder: NodeId | null
  readonly ended_at: number | null
  readonly failures: number
}

export function findJob(db: Db, name: string): Promise<JobRow | undefined> {
  return db
    .selectFrom('jobs')
    .leftJoin('nodes', 'nodes.id', 'jobs.node')
    .select(['jobs.node', 'nodes.id as holder', 'jobs.ended_at', 'jobs.failures'])
    .where('jobs.name', '=', name)
    .executeTakeFirst()
}

/**
 * Gives the job to the node when it still is as it was seen (undefined: not there yet), in one atomic statement, so
 * that of any number of nodes that saw the same one gets it. A dead holder does not come back: ids are used once.
 */
export async function takeJob(
  db: Db,
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
  const taken = await db
    .updateTable('jobs')
    .set({ node })
    .where('name', '=', name)
    .where('node', 'is not distinct from', seen.node)
    .where('ended_at', 'is not distinct from', seen.ended_at)
    .executeTakeFirst()
  return taken.numUpdatedRows > 0n
}

/** Frees the job, noting what is given. Does nothing when somebody else has it by now. */
export async function releaseJob(db: Db, name: string, node: NodeId, noted: Partial<JobNote>): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ node: null, ...noted })
    .where('name', '=', name)
    .where('node', '=', node)
    .execute()
}

/** What is noted when a run ends. */
export interface JobNote {
  readonly ended_at: number | null
  readonly failures: number
  /** What went wrong, and when; null when it went well. */
  readonly failure: string | null
  readonly failed_at: number | null
}

export interface JobStatusRow extends JobNote {
  readonly name: string
  /** The node that runs it, if that is alive. */
  readonly holder: NodeId | null
}

export function listJobs(db: Db): Promise<JobStatusRow[]> {
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

/** Lets a job that has failed at least so often run at its next time; false for any other. */
export async function retryJob(trx: Db, name: string, failures: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('jobs')
    .set({ failures: 0, ended_at: null })
    .where('name', '=', name)
    .where('failures', '>=', failures)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Keeps how the job fails, for others than the node that is alone with it. */
export async function keepJob(db: Db, name: string, note: JobNote): Promise<void> {
  await db
    .insertInto('jobs')
    .values({ name, ...note })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ ...note }))
    .execute()
}

export async function dropJobs(db: Db, name: string | 'all'): Promise<void> {
  const jobs = db.deleteFrom('jobs')
  await (name === 'all' ? jobs : jobs.where('name', '=', name)).execute()
}

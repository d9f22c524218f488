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
export async function releaseJob(
  db: Db,
  name: string,
  node: NodeId,
  noted: { ended_at?: number | null; failures?: number },
): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ node: null, ...noted })
    .where('name', '=', name)
    .where('node', '=', node)
    .execute()
}

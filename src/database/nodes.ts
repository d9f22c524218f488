import type { NodeId } from '../domain/ids.ts'
import type { Db } from './schema.ts'

export async function insertNode(db: Db, id: NodeId, startedAt: number): Promise<void> {
  await db.insertInto('nodes').values({ id, started_at: startedAt }).execute()
}

/** Counts one beat of the node; false when its row is gone. */
export async function countBeat(db: Db, id: NodeId): Promise<boolean> {
  const result = await db
    .updateTable('nodes')
    .set((row) => ({ beats: row('beats', '+', 1) }))
    .where('id', '=', id)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

export function otherNodes(db: Db, id: NodeId): Promise<{ id: NodeId; beats: number }[]> {
  return db.selectFrom('nodes').select(['id', 'beats']).where('id', '!=', id).execute()
}

export interface NodeRow {
  readonly id: NodeId
  readonly beats: number
  readonly started_at: number
}

/** Every node, also those that are dead and not noticed yet. */
export function listNodes(db: Db): Promise<NodeRow[]> {
  return db.selectFrom('nodes').select(['id', 'beats', 'started_at']).orderBy('started_at').execute()
}

export async function removeNode(db: Db, id: NodeId): Promise<void> {
  await db.deleteFrom('nodes').where('id', '=', id).execute()
}

/**
 * Removes a node that was seen with that many beats, unless it has beaten since, in one atomic statement.
 * Says whether it was this call that removed it.
 */
export async function removeQuietNode(db: Db, id: NodeId, beats: number): Promise<boolean> {
  const result = await db
    .deleteFrom('nodes')
    .where('id', '=', id)
    .where('beats', '=', beats)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

export async function removeAllNodes(trx: Db): Promise<void> {
  await trx.deleteFrom('nodes').execute()
}

/** False for a node that was taken for dead, or has left. */
export async function nodeExists(db: Db, id: NodeId): Promise<boolean> {
  return (await db.selectFrom('nodes').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
}

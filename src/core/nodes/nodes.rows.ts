import type { Database, Queryable, Trx } from '../../database/database.ts'
import type { NodeId } from '../../domain/ids.ts'

export interface NodePlace {
  readonly host: string
  readonly address: string
  readonly version: string
}

export async function insertNode(
  db: Queryable,
  id: NodeId,
  startedAt: number,
  place: NodePlace,
): Promise<void> {
  await db
    .insertInto('nodes')
    .values({ id, started_at: startedAt, ...place })
    .execute()
}

/** Records a heartbeat of the node; false when its row is gone. */
export async function recordHeartbeat(db: Database, id: NodeId): Promise<boolean> {
  const result = await db
    .updateTable('nodes')
    .set((row) => ({ beats: row('beats', '+', 1) }))
    .where('id', '=', id)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

export function otherNodes(db: Database, id: NodeId): Promise<{ id: NodeId; beats: number }[]> {
  return db.selectFrom('nodes').select(['id', 'beats']).where('id', '!=', id).execute()
}

export interface NodeRow extends NodePlace {
  readonly id: NodeId
  readonly beats: number
  readonly started_at: number
}

/** All nodes, including dead ones that were not removed yet. */
export function listNodes(db: Database): Promise<NodeRow[]> {
  return db
    .selectFrom('nodes')
    .select(['id', 'beats', 'started_at', 'host', 'address', 'version'])
    .orderBy('started_at')
    .execute()
}

export async function removeNode(db: Database, id: NodeId): Promise<void> {
  await db.deleteFrom('nodes').where('id', '=', id).execute()
}

/** Removes a node without heartbeats after `beats`, in one atomic statement. True if this call did. */
export async function removeQuietNode(db: Database, id: NodeId, beats: number): Promise<boolean> {
  const result = await db
    .deleteFrom('nodes')
    .where('id', '=', id)
    .where('beats', '=', beats)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

export async function removeAllNodes(trx: Trx): Promise<number> {
  const { numDeletedRows } = await trx.deleteFrom('nodes').executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

export async function nodeExists(db: Database, id: NodeId): Promise<boolean> {
  return (await db.selectFrom('nodes').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
}

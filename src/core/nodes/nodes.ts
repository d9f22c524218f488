import type { Database, Queryable, Trx } from '../../database/database.ts'
import { isBlank } from '../../database/migrate.ts'
import { inTransaction } from '../../database/transactions.ts'
import { endsWithin } from '../../domain/abort.ts'
import { type Clock, SECOND } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { NodeId } from '../../domain/ids.ts'
import { makeNodeId, type Random } from '../../domain/random.ts'
import type { Log } from '../../log.ts'
import { outageRefusal } from '../failures.ts'

/** Milliseconds between heartbeats, and between checks of other nodes. */
export const HEARTBEAT_INTERVAL = 5 * SECOND

/** Milliseconds without a heartbeat, by the watcher's clock. */
export const DEAD_AFTER = 30 * SECOND

/** A longer gap between checks restarts the observation: every node may have lost the database. */
const MAX_CHECK_GAP = 3 * HEARTBEAT_INTERVAL

/** Milliseconds without a heartbeat after which a node no longer trusts its own lease. */
const SURELY_ALIVE_FOR = DEAD_AFTER - 2 * HEARTBEAT_INTERVAL

/** Membership among the nodes of a database. Trusts no node's wall clock. */
export interface Nodes {
  /** Current id. Other nodes may have taken over work begun under an earlier one. */
  id(): NodeId
  /** Whether the previous sole process ended without `leave`. False on a shared database. */
  readonly followsCrash: boolean
  /** False when this node may have been declared dead. No query. */
  isSurelyAlive(): boolean
  /** True in doubt. Never throws. */
  hasOthers(): Promise<boolean>
  /** Sends a heartbeat; rejoins under a new id when this node was declared dead. */
  beat(): Promise<void>
  removeDead(): Promise<void>
  /** If it fails, other nodes find this one dead. */
  leave(): Promise<void>
}

/** `alone`: no other process can use the database: other rows are of dead nodes, and no heartbeats are sent. */
export async function joinNodes(parts: {
  db: Database
  clock: Pick<Clock, 'now' | 'monotonic'>
  random: Random
  log: Log
  alone: boolean
  place: NodePlace
}): Promise<Nodes> {
  const { db, clock, random, log, alone, place } = parts
  let followsCrash = false
  let { id, beatAt } = await join()
  const seen = new Map<NodeId, { readonly beats: number; readonly since: number }>()
  let lookBegan = Number.NEGATIVE_INFINITY

  async function join() {
    const id = makeNodeId(random)
    // Taken before the row is visible, so that this node never trusts itself longer than others do.
    const beatAt = clock.monotonic()
    await inTransaction(db, async (trx) => {
      if (alone) followsCrash = (await removeAllNodes(trx)) > 0
      await insertNode(trx, id, clock.now(), place)
    })
    return { id, beatAt }
  }

  return {
    id: () => id,
    followsCrash,

    isSurelyAlive: () => alone || clock.monotonic() - beatAt < SURELY_ALIVE_FOR,

    async hasOthers() {
      if (alone) return false
      let found = true
      const looking = otherNodes(db, id).then((others) => {
        found = others.length > 0
      })
      await endsWithin(SECOND, looking).catch(() => {})
      return found
    },

    async beat() {
      if (alone) return
      const now = clock.monotonic()
      if (await recordHeartbeat(db, id)) {
        beatAt = now
        return
      }
      const before = id
      ;({ id, beatAt } = await join())
      log.warn({ node: id, before }, 'this node was taken for dead and has joined again')
    },

    async removeDead() {
      if (alone) return
      const began = clock.monotonic()
      const others = await otherNodes(db, id)
      const now = clock.monotonic()
      if (now - lookBegan > MAX_CHECK_GAP) seen.clear()
      lookBegan = began
      for (const gone of seen.keys()) if (!others.some((other) => other.id === gone)) seen.delete(gone)
      for (const other of others) {
        const before = seen.get(other.id)
        if (before?.beats !== other.beats) {
          seen.set(other.id, { beats: other.beats, since: now })
        } else if (began - before.since >= DEAD_AFTER && (await removeQuietNode(db, other.id, other.beats))) {
          log.warn({ node: other.id }, 'a node stands still and was taken for dead')
        }
      }
    },

    async leave() {
      try {
        await removeNode(db, id)
      } catch (error) {
        if (outageRefusal(error) === null) throw error
      }
    },
  }
}

/** Throws Refusal PRECONDITION_FAILED when a server has started since. */
export type AssertNoServerStarted = () => Promise<void>

/**
 * For a shared database: cleanly stopped servers left no row; an existing row is watched for the longest gap between
 * heartbeats of a living node. Throws Refusal PRECONDITION_FAILED.
 */
export async function assertNoServerRuns(
  db: Database,
  parts: {
    readonly clock: Clock
    readonly pause: (milliseconds: number) => Promise<void>
    readonly signal: AbortSignal
  },
): Promise<AssertNoServerStarted> {
  const { clock, pause, signal } = parts
  const seen = await nodesOf(db)
  const assertStill = async () => {
    const present = await nodesOf(db)
    for (const [id, beats] of present) {
      if (seen.get(id) === beats) continue
      throw new Refusal(
        'PRECONDITION_FAILED',
        'a server runs on one of the databases; stop every server first, then start this again',
      )
    }
  }
  const until = clock.monotonic() + DEAD_AFTER
  while (seen.size > 0 && clock.monotonic() < until) {
    signal.throwIfAborted()
    await pause(SECOND)
    await assertStill()
  }
  return assertStill
}

async function nodesOf(db: Database): Promise<Map<string, number>> {
  if (await isBlank(db)) return new Map()
  return new Map((await listNodes(db)).map(({ id, beats }) => [id, beats]))
}

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

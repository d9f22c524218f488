import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import { endsWithin } from '../../domain/abort.ts'
import { type Clock, SECOND } from '../../domain/clock.ts'
import type { NodeId } from '../../domain/ids.ts'
import { makeNodeId, type Random } from '../../domain/random.ts'
import type { Log } from '../../log.ts'
import { outageRefusal } from '../failures.ts'
import {
  insertNode,
  type NodePlace,
  otherNodes,
  recordHeartbeat,
  removeAllNodes,
  removeNode,
  removeQuietNode,
} from './nodes.rows.ts'

/** Milliseconds between two heartbeats, and between two checks of other nodes' heartbeats. */
export const HEARTBEAT_INTERVAL = 5 * SECOND

/** Milliseconds without a heartbeat, by the watcher's clock, after which a node is declared dead. */
export const DEAD_AFTER = 30 * SECOND

/**
 * A longer gap between two checks restarts the observation: the database may have been unreachable for every
 * node.
 */
const MAX_CHECK_GAP = 3 * HEARTBEAT_INTERVAL

/** Milliseconds without a heartbeat after which a node no longer relies on being considered alive. */
const SURELY_ALIVE_FOR = DEAD_AFTER - 2 * HEARTBEAT_INTERVAL

/** Membership of this process among the nodes that share the database. Trusts no node's wall clock. */
export interface Nodes {
  /** This node's current id. Work begun under an earlier id may have been taken over by other nodes. */
  id(): NodeId
  /** Whether the process that used the database alone before this one ended without `leave`. False on a shared database. */
  readonly followsCrash: boolean
  /** False when others may have declared this node dead. Does not query the database. */
  isSurelyAlive(): boolean
  /** Whether others are known in the database; true in doubt. Never throws. */
  hasOthers(): Promise<boolean>
  /** Sends a heartbeat; joins again, under a new id, when this node was declared dead. */
  beat(): Promise<void>
  /**
   * Removes nodes without heartbeats. Their leftovers are cleaned up elsewhere: see `Cleaning.sweepDead` and
   * `Claims`.
   */
  removeDead(): Promise<void>
  /** Removes this node. If that fails, other nodes find it dead. */
  leave(): Promise<void>
}

/**
 * Registers this process as a node of the database. `alone` means that no other process can use the database:
 * all other rows are then of dead nodes, and heartbeats, which nobody would read, are not sent.
 */
export async function joinNodes(parts: {
  db: Database
  clock: Pick<Clock, 'now' | 'monotonic'>
  random: Random
  log: Log
  alone: boolean
  place?: NodePlace
}): Promise<Nodes> {
  const { db, clock, random, log, alone, place = null } = parts
  let followsCrash = false
  let { id, beatAt } = await join()
  const seen = new Map<NodeId, { readonly beats: number; readonly since: number }>()
  let lookBegan = Number.NEGATIVE_INFINITY

  async function join() {
    const id = makeNodeId(random)
    // Taken before the row is visible to others, so that this node never believes itself alive for longer
    // than they do.
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

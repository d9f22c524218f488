import {
  countBeat,
  insertNode,
  otherNodes,
  removeAllNodes,
  removeNode,
  removeQuietNode,
} from '../database/nodes.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, SECOND } from '../domain/clock.ts'
import type { NodeId } from '../domain/ids.ts'
import { makeNodeId, type Random } from '../domain/random.ts'
import type { Log } from '../log.ts'
import { outageRefusal } from './failures.ts'

/** Milliseconds between two beats, and between two looks at the beats of others. */
export const BEAT = 5 * SECOND

/** A node that has not beaten for this long by its watcher's clock is taken for dead. */
export const DEAD_AFTER = 30 * SECOND

/** After looks that are further apart the watcher begins anew: the database may have been away for everybody. */
const LOOKS_APART = 3 * BEAT

/** A node that has not beaten for this long no longer trusts that others take it for alive. */
const SURE_FOR = DEAD_AFTER - 2 * BEAT

/** This process among those that share the database. Nobody's wall clock is believed. */
export interface Nodes {
  /** What this node is known by at present. Work begun under another id was taken from it meanwhile. */
  id(): NodeId
  /** False when others may have taken this node for dead already. Asks nobody. */
  isSurelyAlive(): boolean
  /** Tells the others that this node lives; joins again, under a new id, when it was taken for dead. */
  beat(): Promise<void>
  /** Removes nodes that stand still. What they left behind is then nobody's: see `Cleaning.sweepDead` and `Claims`. */
  removeDead(): Promise<void>
  /** Tells the others that nothing more comes from this node. Where that is not possible, they find out. */
  leave(): Promise<void>
}

/**
 * Makes this process a node of the database. `alone` says that nobody else can have the database: every other row
 * is then of a dead node, and beats, which nobody listens to, are left out.
 */
export async function joinNodes(parts: {
  db: Db
  clock: Clock
  random: Random
  log: Log
  alone: boolean
}): Promise<Nodes> {
  const { db, clock, random, log, alone } = parts
  let { id, beatAt } = await join()
  const seen = new Map<NodeId, { readonly beats: number; readonly since: number }>()
  let lookBegan = Number.NEGATIVE_INFINITY

  async function join() {
    const id = makeNodeId(random)
    // Before the others can know of it, so that this node is never surer than they are.
    const beatAt = clock.monotonic()
    await inTransaction(db, async (trx) => {
      if (alone) await removeAllNodes(trx)
      await insertNode(trx, id, clock.now())
    })
    return { id, beatAt }
  }

  return {
    id: () => id,

    isSurelyAlive: () => alone || clock.monotonic() - beatAt < SURE_FOR,

    async beat() {
      if (alone) return
      const now = clock.monotonic()
      if (await countBeat(db, id)) {
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
      if (now - lookBegan > LOOKS_APART) seen.clear()
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

/** Whether a server runs on a database that any number of them may have open. */
import { describe, expect, test } from 'bun:test'
import {
  assertNoServerRuns,
  DEAD_AFTER,
  HEARTBEAT_INTERVAL,
  insertNode,
  recordHeartbeat,
} from '../../../../src/core/nodes/nodes.ts'
import type { Database } from '../../../../src/database/database.ts'
import { makeNodeId, systemRandom } from '../../../../src/domain/random.ts'
import { databases } from '../../../support/databases/databases.ts'
import { handClock } from '../../../support/hand-clock.ts'
import { NOWHERE } from '../../../support/node-place.ts'

/** Lets time pass by hand; `meanwhile` is told of every second. */
function watching(db: Database, meanwhile: (second: number) => Promise<void> = async () => {}) {
  const clock = handClock()
  const waited = { seconds: 0 }
  const pause = async (milliseconds: number) => {
    clock.advance(milliseconds)
    waited.seconds += milliseconds / 1000
    await meanwhile(waited.seconds)
  }
  const signal = new AbortController().signal
  return { waited, quiet: assertNoServerRuns(db, { clock, pause, signal }) }
}

describe.each(databases('watching for servers'))('on %s', (_name, open) => {
  test('where no server has left a trace nothing is waited for', async () => {
    await using database = await open()
    const { waited, quiet } = watching(database.db)
    await (await quiet)()
    expect(waited.seconds).toBe(0)
  })

  test('a node that was killed is watched until it would be dead', async () => {
    await using database = await open()
    await insertNode(database.db, makeNodeId(systemRandom), 0, NOWHERE)
    const { waited, quiet } = watching(database.db)
    await (await quiet)()
    expect(waited.seconds).toBe(DEAD_AFTER / 1000)
  })

  test('a node that beats is noticed', async () => {
    await using database = await open()
    const id = makeNodeId(systemRandom)
    await insertNode(database.db, id, 0, NOWHERE)
    const { quiet } = watching(database.db, async (second) => {
      if (second * 1000 === HEARTBEAT_INTERVAL) await recordHeartbeat(database.db, id)
    })
    await expect(quiet).rejects.toThrow('a server runs')
  })

  test('a server that starts later is noticed later', async () => {
    await using database = await open()
    const stillQuiet = await watching(database.db).quiet
    await stillQuiet()
    await insertNode(database.db, makeNodeId(systemRandom), 0, NOWHERE)
    await expect(stillQuiet()).rejects.toThrow('a server runs')
  })
})

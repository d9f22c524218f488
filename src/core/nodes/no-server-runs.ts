import type { Database } from '../../database/database.ts'
import { isBlank } from '../../database/migrate.ts'
import { type Clock, SECOND } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { listNodes } from './nodes.rows.ts'
import { DEAD_AFTER } from './nodes.ts'

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

/** One upload over a bad line, to servers that are killed meanwhile. */

import { eventually } from '../support/eventually.ts'
import { type BadLine, startBadLine } from '../support/network/bad-line.ts'
import type { KillableServers } from '../support/servers/killable-servers.ts'

export interface Course {
  readonly seed: number
  readonly cuts: number
  readonly kills: number
  /** Bytes that are sent. */
  readonly size: number
}

/**
 * Lets the sender send over the line, and kills servers between the cuts. Throws when there were fewer cuts or kills than
 * asked for, which would show nothing. The seed is said when it fails.
 */
export async function overBadLine<T>(
  servers: KillableServers,
  { seed, cuts, kills, size }: Course,
  send: (line: string) => Promise<T>,
): Promise<T> {
  // Less than all has come when the last cut is due.
  const line = await startBadLine(servers.urls, { seed, cuts, most: Math.floor(size / cuts) })
  let isSent = false
  try {
    const sending = send(line.url).finally(() => {
      isSent = true
    })
    const [result, killed] = await Promise.all([
      sending,
      killBetween(servers, line, { cuts, kills }, () => isSent),
    ])
    if (line.cuts() !== cuts || killed !== kills) {
      throw new Error(`there were only ${line.cuts()} cuts and ${killed} kills`)
    }
    return result
  } catch (error) {
    console.error(`HOLDFAST_TEST_BAD_LINE_SEED=${seed} (failed after ${line.cuts()} cuts)`)
    throw error
  } finally {
    await line.stop()
  }
}

/** How many it killed before all was sent. */
async function killBetween(
  servers: KillableServers,
  line: BadLine,
  { cuts, kills }: Pick<Course, 'cuts' | 'kills'>,
  isSent: () => boolean,
): Promise<number> {
  for (let kill = 0; kill < kills; kill++) {
    const due = Math.floor(((kill + 0.5) * cuts) / kills)
    await eventually(`${due} cuts were made`, () => isSent() || line.cuts() >= due, 3600)
    if (isSent()) return kill
    await servers.kill(line.latest())
  }
  return kills
}

/** What HOLDFAST_TEST_BAD_LINE_SEED says, to repeat a run, or another one each time. */
export function badLineSeed(): number {
  const text = process.env.HOLDFAST_TEST_BAD_LINE_SEED
  return text === undefined ? Math.floor(Math.random() * 1_000_000) : Number(text)
}

/** Rounds of traffic, SIGKILL and a look at what is left; the suite runs a few of them, the long tier thousands. */
import { join } from 'node:path'
import { chance } from '../support/chance.ts'
import { type Caller, caller, UnexpectedAnswer } from '../support/clients/caller.ts'
import { eventually } from '../support/eventually.ts'
import {
  addAccount,
  type ChildServer,
  type ChildSettings,
  launchChild,
  startChild,
  temporaryFolder,
} from '../support/processes/child.ts'
import { inconsistencies, unfinishedBlobs } from '../support/storage/blob-folder.ts'
import { type CrashModel, emptyModel, reconcile } from './crash-model.ts'
import { emptyTally, startTraffic, type Tally } from './crash-traffic.ts'

const MIB = 1024 * 1024
const STORAGE_LIMIT = 128 * MIB
/** On however slow a machine the rounds have something to lose. */
const ACKNOWLEDGED = 3
const SETTINGS: ChildSettings = {
  STORAGE_LIMIT: '128MB',
  RATE_LIMIT: '1000000000',
  MIN_FREE_SPACE: '1MB',
}

export interface CrashFigures extends Tally {
  readonly rounds: number
  /** Servers that were killed while they started, or hardly had. */
  readonly killedWhileStarting: number
  /** Unfinished files that lay there right after the kills. */
  readonly unfinishedFiles: number
}

/**
 * Runs the rounds on one data folder. Throws at the first round that leaves anything wrong, and names all of it.
 * `report` is told the number of each round that went well.
 */
export async function crashRounds(
  { rounds, seed }: { readonly rounds: number; readonly seed: number },
  report: (round: number) => void = () => {},
): Promise<CrashFigures> {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const { apiKey } = await addAccount(dataDir, 'crash')
  const model = emptyModel()
  const tally = emptyTally()
  const when = chance(seed)
  let killedWhileStarting = 0
  let unfinishedFiles = 0
  for (let round = 1; round <= rounds; round++) {
    try {
      await trafficUntilKilled(dataDir, apiKey, { model, tally, round, seed, delay: when.whole(20, 600) })
      unfinishedFiles += unfinishedBlobs(dataDir).length
      allWell(inconsistencies(dataDir, { cleaned: false }))
      // A server that is killed while it clears up must leave the next one no worse off.
      if (when.fraction() < 0.25) {
        const child = launchChild(dataDir, SETTINGS)
        await Bun.sleep(when.whole(50, 700))
        await child.kill()
        killedWhileStarting += 1
      }
      await withServer(dataDir, async (server) => {
        allWell(await reconcile(model, caller(server.url, apiKey)))
        await eventually('unfinished files are cleared', () => unfinishedBlobs(dataDir).length === 0)
      })
      allWell(inconsistencies(dataDir, { cleaned: true }))
    } catch (cause) {
      throw new Error(`round ${round} of seed ${seed} went wrong`, { cause })
    }
    report(round)
  }
  await withServer(dataDir, (server) => fillUp(caller(server.url, apiKey)))
  return { ...tally, rounds, killedWhileStarting, unfinishedFiles }
}

interface Round {
  readonly model: CrashModel
  readonly tally: Tally
  readonly round: number
  readonly seed: number
  /** Milliseconds of traffic before the kill; in every other round it waits for acknowledged uploads too. */
  readonly delay: number
}

async function trafficUntilKilled(dataDir: string, apiKey: string, work: Round): Promise<void> {
  await using server = await startChild(dataDir, SETTINGS)
  const traffic = startTraffic(caller(server.url, apiKey), work.model, work.tally, work)
  const before = work.tally.uploads
  const time = async () => {
    await Bun.sleep(work.delay)
    if (work.round % 2 === 1) return
    await eventually('uploads were acknowledged', () => work.tally.uploads >= before + ACKNOWLEDGED, 60)
  }
  // A worker that was answered wrongly ends the round before the kill.
  await Promise.race([time(), traffic.over])
  traffic.expectDeath()
  await server.kill()
  await traffic.over
}

async function withServer(dataDir: string, work: (server: ChildServer) => Promise<void>): Promise<void> {
  await using server = await startChild(dataDir, SETTINGS)
  await work(server)
  await server.stop()
}

/** Room that a killed upload had reserved is free again: the account can be filled to its last byte, and no further. */
async function fillUp(server: Caller): Promise<void> {
  const { storage_used: used } = await server.account()
  const rest = chance(1).bytes(STORAGE_LIMIT - used)
  await server.upload(rest, 'the rest.bin')
  try {
    await server.upload(new Uint8Array(1), 'one byte more.bin')
  } catch (error) {
    if (error instanceof UnexpectedAnswer && error.status === 413) return
    throw error
  }
  throw new Error('a full account took one byte more')
}

function allWell(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

/** Rounds of traffic, SIGKILL or a power cut, and a look at what is left; the suite runs a few, the long tier thousands. */
import { join } from 'node:path'
import { chance } from '../support/chance.ts'
import { type Caller, caller, UnexpectedAnswer } from '../support/clients/caller.ts'
import { eventually } from '../support/eventually.ts'
import {
  addAccount,
  type Child,
  type ChildServer,
  type ChildSettings,
  launchChild,
  startChild,
  temporaryFolder,
} from '../support/processes/child.ts'
import { inconsistencies, unfinishedBlobs } from '../support/storage/blob-folder.ts'
import { type FileSystem, volatileDisk } from '../support/storage/volatile-disk.ts'
import { type CrashModel, emptyModel, reconcile } from './crash-model.ts'
import { changeSecrets, lostSecrets, noSecrets, type Secrets } from './crash-secrets.ts'
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

/** What crashes, and what it takes with it. */
interface Machine extends Disposable {
  readonly path: string
  /** Ends the server, and whatever is under it, at this moment; afterwards all is as the next server finds it. */
  crash(server: Child): Promise<void>
}

function killingMachine(): Machine {
  const folder = temporaryFolder()
  return { ...folder, crash: (server) => server.kill() }
}

/** A machine whose crashes are power cuts. */
export function powerCutMachine(kind: FileSystem): Machine {
  const disk = volatileDisk(kind)
  return {
    ...disk,
    async crash(server) {
      // A machine without power answers nothing. Of this one a sync may still succeed, where XFS is shut down in its middle.
      server.signal('SIGSTOP')
      disk.cut()
      // What it had acknowledged by then may still be on its way.
      await Bun.sleep(20)
      await server.kill()
      disk.comeBack()
    },
  }
}

/**
 * Runs the rounds on one data folder. Throws at the first round that leaves anything wrong, and names all of it.
 * `report` is told the number of each round that went well.
 */
export async function crashRounds(
  {
    rounds,
    seed,
    on = killingMachine,
  }: { readonly rounds: number; readonly seed: number; readonly on?: () => Machine },
  report: (round: number) => void = () => {},
): Promise<CrashFigures> {
  using machine = on()
  const dataDir = join(machine.path, 'data')
  const { apiKey } = await addAccount(dataDir, 'crash')
  const keeper = await addAccount(dataDir, 'secrets')
  const keys = { apiKey, keeper: keeper.apiKey }
  const secrets = noSecrets()
  const model = emptyModel()
  const tally = emptyTally()
  const when = chance(seed)
  let killedWhileStarting = 0
  let unfinishedFiles = 0
  for (let round = 1; round <= rounds; round++) {
    try {
      const work = { model, secrets, tally, round, seed, delay: when.whole(20, 600) }
      await trafficUntilCrash(machine, dataDir, keys, work)
      unfinishedFiles += unfinishedBlobs(dataDir).length
      allWell(inconsistencies(dataDir, { cleaned: false }))
      // A server that is killed while it clears up must leave the next one no worse off.
      if (when.fraction() < 0.25) {
        const child = launchChild(dataDir, SETTINGS)
        await Bun.sleep(when.whole(50, 700))
        await machine.crash(child)
        killedWhileStarting += 1
      }
      await withServer(dataDir, async (server) => {
        allWell(await reconcile(model, caller(server.url, apiKey)))
        allWell(await lostSecrets(caller(server.url, keeper.apiKey), secrets))
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
  readonly secrets: Secrets
  readonly tally: Tally
  readonly round: number
  readonly seed: number
  /** Milliseconds of traffic before the crash; in every other round it waits for acknowledged uploads too. */
  readonly delay: number
}

async function trafficUntilCrash(
  machine: Machine,
  dataDir: string,
  keys: { readonly apiKey: string; readonly keeper: string },
  work: Round,
): Promise<void> {
  await using server = await startChild(dataDir, SETTINGS)
  const traffic = startTraffic(caller(server.url, keys.apiKey), work.model, work.tally, work)
  let isDying = false
  const changing = changeSecrets(caller(server.url, keys.keeper), work.secrets, () => isDying)
  const before = work.tally.uploads
  const time = async () => {
    await Bun.sleep(work.delay)
    if (work.round % 2 === 1) return
    await eventually('uploads were acknowledged', () => work.tally.uploads >= before + ACKNOWLEDGED, 60)
  }
  // A worker that was answered wrongly ends the round before the crash.
  await Promise.race([time(), traffic.over, changing])
  isDying = true
  traffic.expectDeath()
  await machine.crash(server)
  await Promise.all([traffic.over, changing])
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

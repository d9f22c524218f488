/** Rounds of uploads and crashes of PostgreSQL; the suite runs a few of them, the long tier a hundred. */
import { chmodSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { loadConfig } from '../../src/config.ts'
import { openPostgres } from '../../src/database/postgres.ts'
import { systemClock } from '../../src/domain/clock.ts'
import { systemRandom } from '../../src/domain/random.ts'
import { openAdministration } from '../../src/operations/administration.ts'
import { chance } from '../support/chance.ts'
import { readBack, UnexpectedAnswer } from '../support/clients/caller.ts'
import { type Attempt, type Load, startLoad } from '../support/clients/upload-load.ts'
import { startPostgres } from '../support/databases/postgres.ts'
import { eventually } from '../support/eventually.ts'
import { type ChildServer, startChild, temporaryFolder } from '../support/processes/child.ts'
import { freePort } from '../support/processes/free-port.ts'
import { unsoundTotals } from '../support/storage/soundness.ts'
import { type FileSystem, volatileDisk } from '../support/storage/volatile-disk.ts'

const ACCOUNTS = 12
const CLIENTS_OF_EACH = 2
/** A round is worth its crash once so many uploads were answered in it. */
const ANSWERED = 12
/** A commit waits so many microseconds for the disk, so that most crashes hit commits that are not in the log yet. */
const SLOW_COMMITS = { commit_delay: '30000', commit_siblings: '0' }
/** For a small disk. */
const SMALL_LOG = { max_wal_size: '64MB', min_wal_size: '32MB' }
const READ_AT_ONCE = 8

export interface PostgresCrashFigures {
  readonly crashes: number
  readonly answered: number
  readonly failed: number
}

/**
 * Lets a server store files for several accounts while its PostgreSQL crashes again and again; `on` a file system, the disk of
 * both loses its power instead, and the server starts anew. Throws when an upload that was answered 200 is not there byte for byte,
 * or when totals do not add up. `report` is told the number of each round.
 */
export async function postgresCrashRounds(
  {
    rounds,
    seed,
    on = null,
  }: { readonly rounds: number; readonly seed: number; readonly on?: FileSystem | null },
  report: (round: number) => void = () => {},
): Promise<PostgresCrashFigures> {
  await using open = new AsyncDisposableStack()
  const disk = on === null ? null : open.use(volatileDisk(on))
  const { path } = disk ?? open.use(temporaryFolder())
  // PostgreSQL's user has to get there.
  for (const each of disk === null ? [path] : [dirname(path), path]) chmodSync(each, 0o711)
  const dataDir = join(path, 'data')
  const more = disk === null ? {} : SMALL_LOG
  const postgres = open.adopt(await startPostgres({ ...SLOW_COMMITS, ...more }, path), (it) => it.stop())
  // Clients ask at the same address after a start.
  const port = disk === null ? '0' : String(await freePort())
  const settings = {
    ...{ DATABASE_URL: postgres.url, RATE_LIMIT: '1000000000', MIN_FREE_SPACE: '1MB', PORT: port },
  }
  let server = await startChild(dataDir, settings)
  open.defer(() => server.kill())
  const crash = async () => {
    if (disk === null) return postgres.restartImmediate()
    server.signal('SIGSTOP')
    postgres.pause()
    disk.cut()
    await server.kill()
    await postgres.restartAround(() => disk.comeBack())
    server = await startChild(dataDir, settings)
  }
  // What made the database was not synced.
  Bun.spawnSync(['sync', '-f', path])
  const keys = await addAccounts(dataDir, settings)
  const random = chance(seed)
  const loads = keys.map((key, at) =>
    startLoad({
      nodes: [server.url],
      key,
      clients: CLIENTS_OF_EACH,
      sizes: [10, 1000, 50_000],
      random: chance(seed + at + 1),
    }),
  )
  for (let round = 1; round <= rounds; round++) {
    const before = answeredOf(loads).length
    const isBusy = () => answeredOf(loads).length >= before + ANSWERED
    await eventually('uploads are answered', isBusy, 60)
    await Bun.sleep(random.whole(0, 60))
    await crash()
    report(round)
  }
  await Promise.all(loads.map((load) => load.stop()))
  const answered = answeredOf(loads)
  const lost = await lostOf(server, answered)
  if (lost.length > 0) {
    throw new Error(`${lost.length} of ${answered.length} answered uploads are lost:\n${lost.join('\n')}`)
  }
  const wrong = await wrongTotals(postgres.url)
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
  const attempts = loads.reduce((sum, load) => sum + load.attempts.length, 0)
  return { crashes: rounds, answered: answered.length, failed: attempts - answered.length }
}

async function addAccounts(dataDir: string, settings: Readonly<Record<string, string>>): Promise<string[]> {
  const variables = Object.entries(settings).map(([name, value]) => [`HOLDFAST_${name}`, value])
  const config = { ...loadConfig(Object.fromEntries(variables)), dataDir }
  const administration = await openAdministration(
    { config, clock: systemClock, random: systemRandom },
    { mayBegin: true },
  )
  try {
    const names = Array.from({ length: ACCOUNTS }, (_, at) => `account-${at}`)
    const added = await Promise.all(names.map((name) => administration.accounts.add(name)))
    return added.map(({ apiKey }) => apiKey)
  } finally {
    await administration.close()
  }
}

function answeredOf(loads: readonly Load[]): Attempt[] {
  return loads.flatMap(({ attempts }) => attempts.filter(({ answer }) => answer?.status === 200))
}

/** What of it is not there byte for byte, a line each. */
async function lostOf(server: ChildServer, answered: readonly Attempt[]): Promise<string[]> {
  const lost: string[] = []
  const left = answered.values()
  const reader = async () => {
    for (const { answer, name, size, sha256 } of left) {
      const slug = answer?.slug ?? ''
      try {
        const read = await readBack(server.url, slug)
        if (read.size !== size || read.sha256 !== sha256) lost.push(`${slug}, ${name}, has other bytes`)
      } catch (error) {
        if (!(error instanceof UnexpectedAnswer)) throw error
        lost.push(`${slug}, ${name}: ${error.message}`)
      }
    }
  }
  await Promise.all(Array.from({ length: READ_AT_ONCE }, reader))
  return lost
}

async function wrongTotals(url: string): Promise<string[]> {
  const db = openPostgres(url, { connections: 1, durable: true, report() {} })
  try {
    const isGivenBack = async () =>
      (await db.selectFrom('reservations').select('key').limit(1).executeTakeFirst()) === undefined
    await eventually('the room of failed uploads is given back', isGivenBack, 90)
    return await unsoundTotals(db)
  } finally {
    await db.destroy()
  }
}

/** Power cuts under `holdfast backup` and `check --from`; the suite has one of each, the long tier many. */
import { Database } from 'bun:sqlite'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COPIES } from '../../../src/contents/mark-copies.ts'
import { type Chance, chance } from '../../support/chance.ts'
import { holdfast, MAIN, onlyThese } from '../../support/cli/command.ts'
import { sha256 } from '../../support/clients/caller.ts'
import { eventually } from '../../support/eventually.ts'
import { catalogOf } from '../../support/operations/backups.ts'
import { startChild, temporaryFolder } from '../../support/processes/child.ts'
import { type FileSystem, type VolatileDisk, volatileDisk } from '../../support/storage/volatile-disk.ts'

const FILES = 20
const SIZES = [1, 3000, 70_000, 400_000]
/** Milliseconds after the start of a command before which the power goes. */
const LATEST_CUT = 2500

export interface BackupCutFigures {
  readonly rounds: number
  /** Commands that had not ended when the power went. */
  readonly cutBackups: number
  readonly cutRepairs: number
  /** Points that a backup listed although its command had not ended. */
  readonly earlyPoints: number
}

/**
 * Backs up and repairs an installation on a disk that loses its power meanwhile. Throws where a backup lists a point that
 * cannot be restored whole, lacks one that was reported, or cannot go on, and where a repair leaves a content half done.
 */
export async function backupCutRounds(
  { rounds, seed, kind }: { readonly rounds: number; readonly seed: number; readonly kind: FileSystem },
  report: (round: number) => void = () => {},
): Promise<BackupCutFigures> {
  using disk = volatileDisk(kind)
  const dataDir = join(disk.path, 'data')
  const when = chance(seed)
  await fill(dataDir, when)
  const figures = { cutBackups: 0, cutRepairs: 0, earlyPoints: 0 }
  for (let round = 1; round <= rounds; round++) {
    const target = join(disk.path, `backup-${round}`)
    try {
      await cutBackup({ disk, dataDir, target, when, figures })
      await cutRepair({ disk, dataDir, target, when, figures })
    } catch (cause) {
      throw new Error(`round ${round} of seed ${seed} on ${kind} went wrong`, { cause })
    }
    rmSync(target, { recursive: true })
    report(round)
  }
  return { rounds, ...figures }
}

async function fill(dataDir: string, random: Chance): Promise<void> {
  await using server = await startChild(dataDir, { MIN_FREE_SPACE: '1MB' })
  for (let at = 0; at < FILES; at++) {
    const body = random.bytes(random.pick(SIZES) + at)
    const answer = await fetch(`${server.url}/${at}.bin`, { method: 'PUT', body })
    if (!answer.ok) throw new Error(`an upload was answered ${answer.status}`)
  }
  await server.stop()
}

interface Round {
  readonly disk: VolatileDisk
  readonly dataDir: string
  readonly target: string
  readonly when: Chance
  readonly figures: { cutBackups: number; cutRepairs: number; earlyPoints: number }
}

async function cutBackup({ disk, dataDir, target, when, figures }: Round): Promise<void> {
  const cutAfter = { delay: when.whole(0, LATEST_CUT), codes: [0] }
  const isDone = await cutDuring(disk, dataDir, ['backup', target], cutAfter)
  const points = await pointsIn(target)
  if (isDone && points === 0) throw new Error('the point of a backup that was reported is lost')
  if (points > 0) await assertRestorable(dataDir, target)
  if (!isDone) figures.cutBackups += 1
  if (!isDone && points > 0) figures.earlyPoints += 1
  await run(dataDir, ['backup', target], [0])
  cut(disk)
  if ((await pointsIn(target)) !== points + 1) throw new Error('the next backup is lost')
  await assertRestorable(dataDir, target)
}

/** Points that the catalog lists. */
async function pointsIn(target: string): Promise<number> {
  if (!COPIES.some((copy) => existsSync(join(target, copy)))) return 0
  return (await catalogOf(target)).catalog.points.length
}

async function assertRestorable(dataDir: string, target: string): Promise<void> {
  using folder = temporaryFolder()
  const place = join(folder.path, 'restored')
  await run(place, ['restore', target], [0])
  await run(place, ['check', '--read-data'], [0])
  const had = contentsOf(dataDir).map(({ sha256 }) => sha256)
  const has = new Set(contentsOf(place).map(({ sha256 }) => sha256))
  const lacks = had.filter((each) => !has.has(each))
  if (lacks.length > 0) throw new Error(`the point lacks ${lacks.length} of ${had.length} contents`)
}

/** Damages every content, lets a check bring them back from the backup, and cuts the power meanwhile. */
async function cutRepair({ disk, dataDir, target, when, figures }: Round): Promise<void> {
  const damaged = new Map<string, string>()
  for (const { key } of contentsOf(dataDir)) {
    const path = pathOf(dataDir, key)
    const bytes = readFileSync(path).map((byte) => byte ^ 1)
    writeFileSync(path, bytes)
    damaged.set(key, sha256(bytes))
  }
  Bun.spawnSync(['sync', '-f', disk.path])
  const repair = ['check', '--read-data', '--mark-many', '--from', target]
  const cutAfter = { delay: when.whole(0, LATEST_CUT), codes: [3] }
  if (!(await cutDuring(disk, dataDir, repair, cutAfter))) figures.cutRepairs += 1
  for (const { key, sha256: whole } of contentsOf(dataDir)) {
    const path = pathOf(dataDir, key)
    const found = existsSync(path) ? sha256(readFileSync(path)) : 'nothing'
    // A copy has a key of its own.
    if (found !== (damaged.get(key) ?? whole)) throw new Error(`the content ${key} is neither old nor healed`)
  }
  await run(dataDir, repair, [0, 3])
  await run(dataDir, ['check', '--read-data'], [0])
}

interface Content {
  readonly key: string
  readonly sha256: string
}

function contentsOf(dataDir: string): Content[] {
  using database = new Database(join(dataDir, 'holdfast.sqlite'))
  return database.query<Content, []>('select key, sha256 from blobs').all()
}

function pathOf(dataDir: string, key: string): string {
  return join(dataDir, 'blobs', key.slice(0, 2), key)
}

/** Runs the command until the power goes. Whether it had ended by then, which it may only have done well. */
async function cutDuring(
  disk: VolatileDisk,
  dataDir: string,
  words: readonly string[],
  { delay, codes }: { readonly delay: number; readonly codes: readonly number[] },
): Promise<boolean> {
  const child = Bun.spawn([process.execPath, '--no-env-file', MAIN, ...words], {
    cwd: tmpdir(),
    env: onlyThese(environmentOf(dataDir)),
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await Promise.race([child.exited, Bun.sleep(delay)])
  const { exitCode } = child
  // A machine without power answers nothing, and does nothing more.
  if (exitCode === null) child.kill('SIGSTOP')
  disk.cut()
  child.kill('SIGKILL')
  await child.exited
  // The process that syncs the disk for a backup may hold it for a moment longer.
  await eventually('nobody has the disk open', () => isBack(disk))
  if (exitCode !== null && !codes.includes(exitCode)) {
    throw new Error(`${words.join(' ')} ended with ${exitCode}`)
  }
  return exitCode !== null
}

function isBack(disk: VolatileDisk): boolean {
  try {
    disk.comeBack()
    return true
  } catch {
    return false
  }
}

function cut(disk: VolatileDisk): void {
  disk.cut()
  disk.comeBack()
}

/** The disk is a small one. */
function environmentOf(dataDir: string) {
  return { HOLDFAST_DATA_DIR: dataDir, HOLDFAST_MIN_FREE_SPACE: '1MB' }
}

async function run(dataDir: string, words: readonly string[], codes: readonly number[]): Promise<void> {
  const { code, output, errors } = await holdfast(tmpdir(), words, environmentOf(dataDir))
  if (!codes.includes(code)) throw new Error(`${words.join(' ')} ended with ${code}: ${errors}${output}`)
}

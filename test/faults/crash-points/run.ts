/** Records one upload of each kind, and looks at the states in which a power cut could have left the folder. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { type Chance, chance } from '../../support/chance.ts'
import { caller } from '../../support/clients/caller.ts'
import { eventually } from '../../support/eventually.ts'
import { addAccount, startChild, temporaryFolder } from '../../support/processes/child.ts'
import { systemCalls, traced } from '../../support/processes/system-calls.ts'
import { type CrashImage, crashImages } from '../../support/storage/crash-images.ts'
import {
  contentAfter,
  type DatabaseLog,
  keptUpTo,
  logLosses,
  logOf,
} from '../../support/storage/database-log.ts'
import { RECORDED_CALLS, type Recording, recorded, treeOf } from '../../support/storage/disk-operations.ts'
import { buildImage, type Kept } from '../../support/storage/image-building.ts'
import { expectedAfter, type Looked, once, problemsIn, startHere, unfinishedUploads } from './look.ts'
import { type Beginning, begin, type Step, uploadEverything } from './uploads.ts'

const SETTINGS = { RATE_LIMIT: '1000000', MIN_FREE_SPACE: '1MB' }

export interface Measure {
  /** Chooses where there are more than are looked at. */
  readonly seed: number
  /** Of the largest upload, bytes. */
  readonly size: number
  /** States of the folder on which a server is started, at most. */
  readonly most: number
  /** States of the database and its log that SQLite reads, at most. */
  readonly mostOfDatabase: number
  /** Every so many states of the folder a server of its own is started; 0 for none. */
  readonly ownProcessEvery: number
}

/** What a run of all tests looks at. */
export const IN_SUITE = { size: 100_000, most: 12, mostOfDatabase: 100, ownProcessEvery: 0 }

export interface CrashPointFigures {
  readonly operations: number
  readonly syncs: number
  readonly commits: number
  /** States of the folder, and how many of them a server was started on. */
  readonly states: number
  readonly looked: number
  readonly inOwnProcesses: number
  /** States of the database and its log, and how many of them were read. */
  readonly ofDatabase: number
  readonly read: number
}

interface Scene {
  readonly key: string
  readonly start: Beginning
  readonly steps: readonly Step[]
  readonly recording: Recording
  /** Lines at which the answers of the steps were sent. */
  readonly answers: readonly number[]
}

/** Throws at the first state that is not what was promised. */
export async function crashPoints(
  measure: Measure,
  report: (looked: number, of: number) => void = () => {},
): Promise<CrashPointFigures> {
  const { seed, most, mostOfDatabase, ownProcessEvery } = measure
  const scene = await record(measure.size)
  const own = chance(seed)
  const log = logOf(scene.recording)
  const losses = logLosses(scene.recording, log)
  const read = chosen(losses, mostOfDatabase, own)
  const contents = new Map<number, string>()
  for (const loss of read) assertRead(scene.recording, log, loss, contents)
  const states = crashImages(scene.recording, (at) => scene.answers.filter((line) => line < at).length)
  const looked = chosen(states, most, own)
  let inOwnProcesses = 0
  for (const [number, image] of looked.entries()) {
    const isOwn = ownProcessEvery > 0 && number % ownProcessEvery === 0
    if (isOwn) inOwnProcesses += 1
    await look(scene, image, isOwn ? startProcess : startHere)
    report(number + 1, looked.length)
  }
  const { operations, syncs } = scene.recording
  return {
    operations: operations.length,
    syncs: syncs.length,
    commits: log.commits.length,
    states: states.length,
    looked: looked.length,
    inOwnProcesses,
    ofDatabase: losses.length,
    read: read.length,
  }
}

/** Throws unless SQLite finds the last whole commit and nothing behind it. `contents`: what it finds after each. */
function assertRead(
  recording: Recording,
  log: DatabaseLog,
  { kept, commit }: { readonly kept: readonly Kept[]; readonly commit: number },
  contents: Map<number, string>,
): void {
  const read = (all: readonly Kept[]) => {
    using folder = temporaryFolder()
    return contentAfter(folder.path, recording, all)
  }
  const expected = contents.get(commit) ?? read(keptUpTo(log, commit))
  contents.set(commit, expected)
  if (read(kept) === expected) return
  throw new Error(
    `the database is not that of the last whole commit when this is lost:\n${lossesIn(recording, kept).join('\n')}`,
  )
}

async function look(
  { key, start, steps, recording, answers }: Scene,
  image: CrashImage,
  launch: (dataDir: string) => Promise<Looked>,
): Promise<void> {
  const acknowledged = answers.filter((line) => line < image.at).length
  // A folder for each: threads of a server in this process may still be closing the last one.
  using folder = temporaryFolder()
  buildImage(folder.path, recording, image.kept)
  let problems: string[]
  try {
    problems = await problemsIn(folder.path, key, expectedAfter(start, steps, acknowledged), launch)
  } catch (error) {
    problems = [Bun.inspect(error)]
  }
  if (problems.length === 0) return
  const after = steps[acknowledged - 1]?.title ?? 'nothing'
  throw new Error(
    `a power cut at ${image.at}, after ${after} was answered, leaves:\n${problems.join('\n')}\nlost:\n${lossesIn(recording, image.kept).join('\n')}`,
  )
}

function lossesIn({ operations }: Recording, kept: readonly Kept[]): string[] {
  return operations.flatMap((operation, place) => {
    const how = kept[place]
    if (how === undefined || how === 'all') return []
    const { begun, ended, kind } = operation
    const what =
      operation.kind === 'name' ? `${operation.path} → ${operation.file}` : `file ${operation.file}`
    const where =
      operation.kind === 'write' ? `, ${operation.bytes.length} bytes at ${operation.position}` : ''
    return [`${kind} of ${what}${where} (${begun}–${ended}): kept ${how}`]
  })
}

async function record(size: number): Promise<Scene> {
  using scratch = temporaryFolder()
  const dataDir = join(scratch.path, 'data')
  const { apiKey: key } = await addAccount(dataDir, 'crash')
  const start = await (async () => {
    await using server = await startChild(dataDir, SETTINGS)
    const made = await begin(caller(server.url, key))
    await server.stop()
    return made
  })()
  const copy = join(scratch.path, 'before')
  cpSync(dataDir, copy, { recursive: true })
  const trace = join(scratch.path, 'trace')
  await using server = await startChild(dataDir, SETTINGS, traced(trace, RECORDED_CALLS))
  const steps = await uploadEverything(caller(server.url, key), start, size)
  await server.stop()
  const recording = recorded(dataDir, treeOf(copy), await systemCalls(trace, server.pid))
  return { key, start, steps, recording, answers: steps.map(({ answer }) => lineOf(recording, answer)) }
}

function lineOf({ sent }: Recording, id: string): number {
  const answer = sent.find(({ bytes }) => Buffer.from(bytes).includes(id))
  if (answer === undefined) throw new Error(`no answer ${id} was sent`)
  return answer.begun
}

async function startProcess(dataDir: string): Promise<Looked> {
  const server = await startChild(dataDir, SETTINGS)
  const stop = once(() => server.stop())
  // Garbage stays for a minute, which only a clock of the test's own can hurry.
  const runJobsLater = async () => {
    await stop()
    await using later = await startHere(dataDir)
    await later.runJobsLater()
    await later.stop()
  }
  const finishUploads = () => eventually('whole uploads are files', () => unfinishedUploads(dataDir) === 0)
  return { url: server.url, finishUploads, runJobsLater, stop, [Symbol.asyncDispose]: () => server.kill() }
}

function chosen<T>(values: readonly T[], most: number, own: Chance): T[] {
  return values
    .map((value) => ({ value, place: own.fraction() }))
    .sort((a, b) => a.place - b.place)
    .slice(0, most)
    .map(({ value }) => value)
}

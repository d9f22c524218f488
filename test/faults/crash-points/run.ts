/** Records one upload of each kind, and looks at the states in which a power cut could have left the folder. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { chance } from '../../support/chance.ts'
import { caller } from '../../support/clients/caller.ts'
import { addAccount, startChild, temporaryFolder } from '../../support/processes/child.ts'
import { systemCalls, traced } from '../../support/processes/system-calls.ts'
import { buildImage, type CrashImage, crashImages } from '../../support/storage/crash-images.ts'
import { RECORDED_CALLS, type Recording, recorded, treeOf } from '../../support/storage/disk-operations.ts'
import { expectedAfter, type Looked, once, problemsIn, startHere } from './look.ts'
import { type Beginning, begin, type Step, uploadEverything } from './uploads.ts'

const SETTINGS = { RATE_LIMIT: '1000000', MIN_FREE_SPACE: '1MB' }

export interface Measure {
  readonly seed: number
  /** Of the largest upload, bytes. */
  readonly size: number
  /** Up to so many changes without a sync, every subset is tried. */
  readonly subsets: number
  /** Images of each kind; see `crashImages`. */
  readonly each: number
  /** Images altogether, chosen by the seed. */
  readonly most: number
  /** Every so many images a server of its own is started; 0 for none. */
  readonly ownProcessEvery: number
}

/** What a run of all tests looks at. */
export const IN_SUITE = { size: 100_000, subsets: 4, each: 1, most: 8, ownProcessEvery: 0 }

export interface CrashPointFigures {
  readonly operations: number
  readonly syncs: number
  readonly kinds: number
  readonly images: number
  readonly processes: number
}

interface Scene {
  readonly key: string
  readonly start: Beginning
  readonly steps: readonly Step[]
  readonly recording: Recording
  /** Lines at which the answers of the steps were sent. */
  readonly answers: readonly number[]
}

/** Throws at the first image that is not what was promised. */
export async function crashPoints(
  measure: Measure,
  report: (looked: number, of: number) => void = () => {},
): Promise<CrashPointFigures> {
  const { seed, subsets, each, most, ownProcessEvery } = measure
  const scene = await record(measure.size)
  const own = chance(seed)
  const acknowledged = (at: number) => scene.answers.filter((line) => line < at).length
  const kinds = crashImages(scene.recording, { subsets, each, chance: own, acknowledged })
  const images = shuffled(kinds.flat(), own).slice(0, most)
  let processes = 0
  for (const [number, image] of images.entries()) {
    const isOwn = ownProcessEvery > 0 && number % ownProcessEvery === 0
    if (isOwn) processes += 1
    await look(scene, image, isOwn ? startProcess : startHere)
    report(number + 1, images.length)
  }
  const { operations, syncs } = scene.recording
  return {
    operations: operations.length,
    syncs: syncs.length,
    kinds: kinds.length,
    images: images.length,
    processes,
  }
}

async function look(
  { key, start, steps, recording, answers }: Scene,
  image: CrashImage,
  launch: (dataDir: string) => Promise<Looked>,
): Promise<void> {
  const acknowledged = answers.filter((line) => line < image.at).length
  // A folder for each: threads of a server in this process may still be closing the last one.
  using folder = temporaryFolder()
  buildImage(folder.path, recording, image)
  let problems: string[]
  try {
    problems = await problemsIn(folder.path, key, expectedAfter(start, steps, acknowledged), launch)
  } catch (error) {
    problems = [Bun.inspect(error)]
  }
  if (problems.length === 0) return
  const lost = recording.operations.flatMap((operation, place) => {
    const kept = image.kept[place]
    if (kept === undefined || kept === 'all') return []
    const { begun, ended, kind } = operation
    const what =
      operation.kind === 'name' ? `${operation.path} → ${operation.file}` : `file ${operation.file}`
    const where =
      operation.kind === 'write' ? `, ${operation.bytes.length} bytes at ${operation.position}` : ''
    return [`${kind} of ${what}${where} (${begun}–${ended}): kept ${kept}`]
  })
  const after = steps[acknowledged - 1]?.title ?? 'nothing'
  throw new Error(
    `a power cut at ${image.at}, after ${after} was answered, leaves:\n${problems.join('\n')}\nlost:\n${lost.join('\n')}`,
  )
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
  return { url: server.url, runJobsLater, stop, [Symbol.asyncDispose]: () => server.kill() }
}

function shuffled<T>(values: readonly T[], own: ReturnType<typeof chance>): T[] {
  return values
    .map((value) => ({ value, place: own.fraction() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value)
}

/**
 * Runs the tests: all of them on SQLite and a folder, with real servers for the suites that need them, and those of the
 * HTTP interface also on PostgreSQL and S3, against three nodes behind nginx. Both come from one queue.
 *
 *   bun test/run.ts [paths…] [options of bun test…]
 *
 * Paths choose test files on both pairs; HOLDFAST_TEST_PAIR=folder or =cluster chooses one. What could not run is said
 * at the end; with CI=true it counts as failed.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { clusterFiles, needsServers } from './support/cluster-files.ts'
import { type FileRun, runFile } from './support/file-run.ts'
import { runLanes } from './support/queue.ts'
import { knownSeconds, recordSeconds } from './support/recorded-seconds.ts'
import { installForTests, startServers } from './support/servers.ts'
import { waits } from './support/waiting-files.ts'

type PairName = 'folder' | 'cluster'
interface Task {
  readonly file: string
  readonly pair: PairName
}

const REPOSITORY = join(import.meta.dir, '..')
const PAIRS = { folder: 'SQLite and a folder', cluster: 'PostgreSQL and S3, three nodes behind nginx' }
/** A neighbour may make tests slow, so they have time. */
const USUAL = ['--no-orphans', '--timeout', '120000']
/** However many cores there are: each file may have sixty connections to PostgreSQL. */
const BUSY_AT_ONCE = 2
/** Files that wait for most of their time run beside the others. */
const WAITING_AT_ONCE = 4
/** When all of those have begun, so many more of the others run: two do not use two cores up. */
const BUSY_AFTERWARDS = 2
/** Milliseconds. The longest files take two minutes where nothing else runs; a busy machine may need several times that. */
const FILE_LIMIT = 12 * 60_000
const RUN_LIMIT = 75 * 60_000
/** So few files show all they say. */
const SHOWN_WHOLE = 4
const SLOWEST_TOLD = 15

const firstOption = Bun.argv.slice(2).findIndex((argument) => argument.startsWith('-'))
const end = firstOption === -1 ? undefined : firstOption + 2
const paths = Bun.argv.slice(2, end)
const options = end === undefined ? [] : Bun.argv.slice(end)

const started = performance.now()
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort())

const tasks = chosenTasks(process.env.HOLDFAST_TEST_PAIR)
const files = [...new Set(tasks.map(({ file }) => file))]

installForTests(needsServers(files))
// Once and before all, or the first servers of many files would do it side by side.
const built = Bun.spawnSync([process.execPath, 'web/build.ts'], {
  cwd: REPOSITORY,
  stdio: ['ignore', 'inherit', 'inherit'],
})
if (!built.success) process.exit(1)

const servers = await startServers(needsServers(files))
const results = new Map<Task, FileRun>()
let ranTooLong = false
try {
  if (!stopping.signal.aborted) await runAll(tasks.filter(canRun))
} finally {
  await servers.stop()
}
const code = report()
process.exit(stopping.signal.aborted && !ranTooLong ? 130 : code)

function chosenTasks(only: string | undefined): Task[] {
  const everyFile = [...new Bun.Glob('test/**/*.test.ts').scanSync({ cwd: REPOSITORY })].sort()
  const chosen =
    paths.length === 0 ? everyFile : everyFile.filter((file) => paths.some((path) => isIn(file, path)))
  const tasks: Task[] = [
    ...(only === 'folder' ? [] : clusterFiles(chosen).map((file) => ({ file, pair: 'cluster' as const }))),
    ...(only === 'cluster' ? [] : chosen.map((file) => ({ file, pair: 'folder' as const }))),
  ]
  if (tasks.length > 0) return tasks
  if (chosen.length === 0) console.error(`no test file is meant by ${paths.join(' ')}`)
  else console.error('none of these files is run on PostgreSQL and S3: HOLDFAST_TEST_PAIR=folder runs them')
  process.exit(1)
}

function canRun({ pair }: Task): boolean {
  return pair === 'folder' || servers.missing.every(({ cluster }) => !cluster)
}

async function runAll(all: readonly Task[]): Promise<void> {
  const folder = all.filter(({ pair }) => pair === 'folder').length
  console.error(`\n=== ${PAIRS.folder}: ${folder} files; ${PAIRS.cluster}: ${all.length - folder} files\n`)
  const ordered = longestFirst(all)
  const { running, done } = runLanes(
    [
      { tasks: ordered.filter(({ file }) => waits(file)), atOnce: WAITING_AT_ONCE, goOn: BUSY_AFTERWARDS },
      { tasks: ordered.filter(({ file }) => !waits(file)), atOnce: BUSY_AT_ONCE },
    ],
    async (task) => {
      if (stopping.signal.aborted) return
      const result = await runFile({
        file: task.file,
        options: [...USUAL, ...options],
        variables: { ...servers.variables, HOLDFAST_TEST_PAIR: task.pair },
        limit: FILE_LIMIT,
        signal: stopping.signal,
      })
      results.set(task, result)
      await show(task, result, all.length)
    },
  )
  const limit = setTimeout(() => {
    ranTooLong = true
    const still = [...running].map(({ file, pair }) => `${file} (${pair})`)
    console.error(`\n=== the run took longer than ${RUN_LIMIT / 60_000} minutes and is ended; still running:`)
    console.error(still.join('\n'))
    stopping.abort()
  }, RUN_LIMIT)
  await done
  clearTimeout(limit)
}

/** So that no long file starts when all others have ended. Of those never measured the largest first, and before all. */
function longestFirst(all: readonly Task[]): Task[] {
  const known = knownSeconds()
  const weight = ({ file, pair }: Task) =>
    known.get(`${pair} ${file}`) ?? 1e6 + statSync(join(REPOSITORY, file)).size
  return [...all].sort((a, b) => weight(b) - weight(a))
}

async function show({ file, pair }: Task, run: FileRun, files: number): Promise<void> {
  const figures = [`${run.passed} passed`]
  if (run.failed > 0) figures.push(`${run.failed} FAILED`)
  if (run.skipped > 0) figures.push(`${run.skipped} skipped`)
  const whole = run.failed > 0 || files <= SHOWN_WHOLE ? run.output : ''
  const line = `${run.seconds.toFixed(1).padStart(6)} s  ${pair.padEnd(7)}  ${file}: ${figures.join(', ')}`
  // The process may end right after, and must not leave anything unwritten that a slow reader has not taken yet.
  await new Promise<void>((resolve) => process.stdout.write(`${whole}${line}\n`, () => resolve()))
}

/** The last line is for programs: "N passed, N failed". */
function report(): number {
  const runs = [...results]
  for (const [{ pair }, { failures }] of runs) {
    for (const failure of failures) console.log(`\n=== failed on ${PAIRS[pair]}: ${failure}`)
  }
  if (options.length === 0 && !stopping.signal.aborted) {
    recordSeconds(runs.map(([{ file, pair }, { seconds }]) => [`${pair} ${file}`, seconds]))
  }
  if (runs.length > SHOWN_WHOLE) {
    const slowest = runs.toSorted(([, a], [, b]) => b.seconds - a.seconds).slice(0, SLOWEST_TOLD)
    console.log('\nThe slowest files:')
    for (const [{ file, pair }, { seconds }] of slowest)
      console.log(`  ${seconds.toFixed(0)} s  ${pair}  ${file}`)
  }
  console.log(`\n${((performance.now() - started) / 1000).toFixed(0)} s in all`)
  for (const pair of ['folder', 'cluster'] as const) {
    const own = runs.filter(([task]) => task.pair === pair).map(([, run]) => run)
    if (own.length === 0) continue
    const of = (figure: 'passed' | 'failed' | 'skipped') => `${sum(own, figure)} ${figure}`
    console.log(`${PAIRS[pair]}: ${of('passed')}, ${of('failed')}, ${of('skipped')}`)
  }
  for (const { suites, cluster, reason } of servers.missing) {
    console.log(`did not run: ${suites}${cluster ? ', the HTTP suite on three nodes' : ''}: ${reason}`)
  }
  const every = runs.map(([, run]) => run)
  const passed = sum(every, 'passed')
  const notRun = process.env.CI === 'true' ? servers.missing.length : 0
  const failed = sum(every, 'failed') + notRun + (ranTooLong || passed === 0 ? 1 : 0)
  console.log(`${passed} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

function sum(runs: readonly FileRun[], figure: 'passed' | 'failed' | 'skipped'): number {
  return runs.reduce((total, run) => total + run[figure], 0)
}

/** Whether the argument names the file, its folder or a part of its path, as bun takes it. */
function isIn(file: string, path: string): boolean {
  return file.includes(path.replace(/^\.\//, ''))
}

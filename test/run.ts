/**
 * Runs the tests: those of `npm test`, or with `--all` every one, and on the cluster what database and store can change.
 * Both pairs come from one queue.
 *
 *   bun test/run.ts [--all] [--record] [paths…] [options of bun test…]
 *
 * Paths choose test files, which are run whole; HOLDFAST_TEST_PAIR=folder or =cluster chooses one pair, and all that can
 * run on it. `--record` writes down what each file took. What could not run is said at the end; with CI=true it counts as
 * failed.
 */
import { join } from 'node:path'
import { type Batch, batchesOf, titleOf } from './runner/batches.ts'
import { type FileRun, runFiles } from './runner/file-run.ts'
import { limitsOfRun } from './runner/limits.ts'
import { testFolders } from './runner/memory-folder.ts'
import { runQueue, widthOfMachine } from './runner/queue.ts'
import { nameOf, recordedSeconds, recordSeconds } from './runner/recorded-seconds.ts'
import { reportOf } from './runner/run-report.ts'
import { installForTests, type Servers, startServers } from './runner/servers.ts'
import { isShort, isUsual, needsServers, PAIRS, type Task, tasksOf, testFiles } from './runner/tiers.ts'

const REPOSITORY = join(import.meta.dir, '..')
/** However many processors there are: each file may have sixty connections to PostgreSQL. */
const AT_ONCE = 12
/** So few files show all they say. */
const SHOWN_WHOLE = 4
const OWN_OPTIONS = ['--all', '--record']

if (Bun.argv.includes('--help')) {
  console.log('npm test -- [--all] [--record] [paths] [options of bun test]; see docs/development.md')
  process.exit(0)
}

// Under some values of BUN_OPTIONS `bun test` runs the script of this name, which is this file, and so on without end.
if (process.env.HOLDFAST_TEST_CASES !== undefined) {
  console.error(
    'the runner of the tests was started by itself: run it without BUN_OPTIONS and HOLDFAST_TEST_CASES',
  )
  process.exit(2)
}

const words = Bun.argv.slice(2).filter((word) => !OWN_OPTIONS.includes(word))
const firstOption = words.findIndex((word) => word.startsWith('-'))
const paths = firstOption === -1 ? words : words.slice(0, firstOption)
const options = firstOption === -1 ? [] : words.slice(firstOption)
const wantsRecord = Bun.argv.includes('--record')
const isWhole = Bun.argv.includes('--all') || paths.length > 0

const started = performance.now()
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort())

const recorded = recordedSeconds()
const tasks = chosenTasks(process.env.HOLDFAST_TEST_PAIR)
const limits = limitsOfRun({ isWhole, isShared: tasks.length > 1 })
// What is to be recorded runs by itself, and so does what is looked at closely.
const batches = batchesOf(tasks, recorded, { isShared: !wantsRecord && tasks.length > SHOWN_WHOLE })
const results = new Map<Batch, FileRun>()
let ranTooLong = false

const wantsServers = tasks.some(needsServers)
installForTests(wantsServers)
const folders = testFolders()
// Files that need no servers run until these are there.
let servers: Servers | null = null
const starting = startServers(wantsServers, folders.forServers)
  .then((them) => {
    servers = them
    return them
  })
  .catch((error: unknown) => {
    stopping.abort()
    throw error
  })
try {
  buildSite()
  await runAll()
} finally {
  await (await starting).stop()
  folders.remove()
}
const code = report(await starting)
process.exit(stopping.signal.aborted && !ranTooLong ? 130 : code)

function chosenTasks(only: string | undefined): Task[] {
  const files = testFiles().filter((file) => paths.length === 0 || paths.some((path) => isIn(file, path)))
  const onPairs = tasksOf(files)
  const isMeant = paths.length > 0 || only === 'cluster' ? () => true : isUsual
  const chosen = onPairs.filter(
    (task) => (only ? task.pair === only : true) && (isWhole ? isMeant(task) : isShort(task)),
  )
  if (chosen.length > 0) return chosen
  if (files.length === 0) console.error(`no test file is meant by ${paths.join(' ')}`)
  else console.error('none of these files is run on PostgreSQL and S3: HOLDFAST_TEST_PAIR=folder runs them')
  process.exit(1)
}

/** Once and before all, or the first servers of many files would do it side by side. */
function buildSite(): void {
  const { success } = Bun.spawnSync([process.execPath, 'web/build.ts'], {
    cwd: REPOSITORY,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (!success) throw new Error('the site could not be built')
}

async function runAll(): Promise<void> {
  const folder = tasks.filter(({ pair }) => pair === 'folder').length
  console.error(`\n=== ${PAIRS.folder}: ${folder} files; ${PAIRS.cluster}: ${tasks.length - folder} files\n`)
  const { running, done } = runQueue(batches, { width: widthOfMachine(AT_ONCE), ready: isReady }, runBatch)
  const limit = setTimeout(() => {
    ranTooLong = true
    console.error(
      `\n=== the run took longer than ${limits.run / 60_000} minutes and is ended; still running:`,
    )
    console.error([...running].map(({ pair, files }) => `${pair}: ${files.join(', ')}`).join('\n'))
    stopping.abort()
  }, limits.run)
  await done
  clearTimeout(limit)
}

function isReady({ pair, files }: Batch): boolean {
  return servers !== null || stopping.signal.aborted || !files.some((file) => needsServers({ pair, file }))
}

async function runBatch(batch: Batch): Promise<void> {
  const { pair, files } = batch
  const isLeftOut = pair === 'cluster' && servers?.missing.some(({ cluster }) => cluster)
  if (stopping.signal.aborted || isLeftOut) return
  const run = await runFiles({
    files,
    options: ['--no-orphans', '--timeout', String(limits.test), ...options],
    variables: {
      ...servers?.variables,
      TMPDIR: folders.of(files),
      HOLDFAST_TEST_PAIR: pair,
      HOLDFAST_TEST_PATIENCE: String(limits.patience),
      HOLDFAST_TEST_CASES: isWhole ? 'all' : 'some',
    },
    limit: limits.file,
    signal: stopping.signal,
  })
  results.set(batch, run)
  await show(batch, run)
}

async function show(batch: Batch, run: FileRun): Promise<void> {
  const figures = [`${run.passed} passed`]
  if (run.failed > 0) figures.push(`${run.failed} FAILED`)
  if (run.skipped > 0) figures.push(`${run.skipped} skipped`)
  const whole = run.failed > 0 || tasks.length <= SHOWN_WHOLE ? run.output : ''
  const [seconds, processors] = [run.seconds, run.processorSeconds].map((it) => it.toFixed(1).padStart(6))
  const line = `${seconds} s, ${processors} s of processors  ${titleOf(batch)}: ${figures.join(', ')}`
  // The process may end right after, and must not leave anything unwritten that a slow reader has not taken yet.
  await new Promise<void>((resolve) => process.stdout.write(`${whole}${line}\n`, () => resolve()))
}

function report({ missing }: Servers): number {
  const runs = [...results]
  const seconds = (performance.now() - started) / 1000
  const { lines, failed } = reportOf({ runs, recorded, missing, ranTooLong, seconds })
  console.log(lines.join('\n'))
  if (wantsRecord && options.length === 0 && !stopping.signal.aborted) {
    const took = runs.map(
      ([
        {
          pair,
          files: [file = ''],
        },
        run,
      ]) => [nameOf({ pair, file }), run] as const,
    )
    recordSeconds(new Map([...recordedSeconds(), ...took]))
  }
  return failed === 0 ? 0 : 1
}

/** Whether the argument names the file, its folder or a part of its path, as bun takes it. */
function isIn(file: string, path: string): boolean {
  return file.includes(path.replace(/^\.\//, ''))
}

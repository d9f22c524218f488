/**
 * Runs the tests: those of `npm test`, or with `--all` every one. Both pairs of storage come from one queue.
 *
 *   bun test/run.ts [--all] [paths…] [options of bun test…]
 *
 * Paths choose test files, which are run whole and on each pair that they can run on; HOLDFAST_TEST_PAIR=folder or =cluster
 * chooses one pair. What could not run is said at the end; with CI=true it counts as failed.
 */
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { type FileRun, runFiles } from './runner/file-run.ts'
import { testFolders } from './runner/memory-folder.ts'
import {
  type Batch,
  batchesOf,
  isShort,
  isUsual,
  needsDisk,
  needsServers,
  PAIRS,
  type Task,
  tasksOf,
  testFiles,
  titleOf,
} from './runner/plan.ts'
import { MOST_EACH, runQueue, widthOfMachine } from './runner/queue.ts'
import { linesOf } from './runner/report.ts'
import { installForTests, type Servers, startServers } from './runner/servers.ts'

const REPOSITORY = join(import.meta.dir, '..')
/** However many processors there are: each file may have sixty connections to PostgreSQL. */
const AT_ONCE = 12
/** So few files show all they say. */
const SHOWN_WHOLE = 4
const MINUTE = 60_000
/** Milliseconds that a test may take with a processor of its own. */
const TEST_LIMIT = 30_000
/** Maximum factor by which a busy machine extends the limits. */
const MOST_PATIENCE = 5

if (Bun.argv.includes('--help')) {
  console.log('npm test -- [--all] [paths] [options of bun test]; see docs/development.md')
  process.exit(0)
}

// Under some values of BUN_OPTIONS `bun test` runs the script of this name, which is this file, and so on without end.
if (process.env.HOLDFAST_TEST_CASES !== undefined) {
  console.error(
    'the runner of the tests was started by itself: run it without BUN_OPTIONS and HOLDFAST_TEST_CASES',
  )
  process.exit(2)
}

const words = Bun.argv.slice(2).filter((word) => word !== '--all')
const firstOption = words.findIndex((word) => word.startsWith('-'))
const paths = firstOption === -1 ? words : words.slice(0, firstOption)
const options = firstOption === -1 ? [] : words.slice(firstOption)
const isWhole = Bun.argv.includes('--all') || paths.length > 0

const started = performance.now()
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort())

const tasks = chosenTasks(process.env.HOLDFAST_TEST_PAIR)
const isShared = tasks.length > SHOWN_WHOLE
const batches = batchesOf(tasks, { isShared })
const busy = Math.min(MOST_PATIENCE, Math.max(1, Math.round((loadavg()[0] ?? 0) / availableParallelism())))
/** The factor of everything that tests wait for. */
const patience = tasks.length > 1 ? Math.max(MOST_EACH, busy) : busy
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
const { missing } = await starting
const { lines, failed } = linesOf({ runs: [...results], missing, ranTooLong })
console.log(`\n${((performance.now() - started) / 1000).toFixed(0)} s in all`)
console.log(lines.join('\n'))
process.exit(stopping.signal.aborted && !ranTooLong ? 130 : failed === 0 ? 0 : 1)

function chosenTasks(only: string | undefined): Task[] {
  // An argument names a file, its folder or a part of its path, as bun takes it.
  const isNamed = (file: string) => paths.some((path) => file.includes(path.replace(/^\.\//, '')))
  const files = testFiles().filter((file) => paths.length === 0 || isNamed(file))
  const isMeant = !isWhole ? isShort : paths.length > 0 || only === 'cluster' ? () => true : isUsual
  const chosen = tasksOf(files).filter((task) => (only ? task.pair === only : true) && isMeant(task))
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
  const minutes = (isWhole ? 60 : 15) * busy
  const limit = setTimeout(() => {
    ranTooLong = true
    console.error(`\n=== the run took longer than ${minutes} minutes and is ended; still running:`)
    console.error([...running].map(({ pair, files }) => `${pair}: ${files.join(', ')}`).join('\n'))
    stopping.abort()
  }, minutes * MINUTE)
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
    options: ['--no-orphans', '--timeout', String(TEST_LIMIT * patience), ...options],
    variables: {
      ...servers?.variables,
      TMPDIR: folders.of({ onDisk: files.some(needsDisk) }),
      HOLDFAST_TEST_PAIR: pair,
      HOLDFAST_TEST_PATIENCE: String(patience),
      HOLDFAST_TEST_CASES: isWhole ? 'all' : 'some',
    },
    limit: (isWhole ? 10 : 5) * MINUTE * busy,
    signal: stopping.signal,
  })
  results.set(batch, run)
  await show(batch, run)
}

async function show(batch: Batch, run: FileRun): Promise<void> {
  const figures = [`${run.passed} passed`]
  if (run.failed > 0) figures.push(`${run.failed} FAILED`)
  if (run.skipped > 0) figures.push(`${run.skipped} skipped`)
  const whole = run.failed > 0 || !isShared ? run.output : ''
  const line = `${run.seconds.toFixed(1).padStart(6)} s  ${titleOf(batch)}: ${figures.join(', ')}`
  // The process may end right after, and must not leave anything unwritten that a slow reader has not taken yet.
  await new Promise<void>((resolve) => process.stdout.write(`${whole}${line}\n`, () => resolve()))
}

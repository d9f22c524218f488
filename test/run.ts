/**
 * Runs the tests: all of them on SQLite and a folder, with real servers for the suites that need them, and then those
 * of the HTTP interface again on PostgreSQL and S3, against three nodes behind nginx.
 *
 *   bun test/run.ts [paths…] [options of bun test…]
 *
 * Paths choose test files in both runs; HOLDFAST_TEST_PAIR=folder or =cluster chooses one run. What could not run is
 * said at the end; with CI=true it counts as failed.
 */
import { join } from 'node:path'
import { bunTests, type Figures } from './support/bun-tests.ts'
import { clusterFiles, needsServers } from './support/cluster-files.ts'
import { type Servers, startServers } from './support/servers.ts'
import { waits } from './support/waiting-files.ts'

interface Outcome extends Figures {
  readonly name: string
}

const REPOSITORY = join(import.meta.dir, '..')
/** A neighbour may make tests slow, so they have time. */
const USUAL = ['--no-orphans', '--timeout', '120000']
/**
 * Two files run at once, however many cores there are, and beside them one of those that wait for most of their time:
 * each of them may have sixty connections to PostgreSQL.
 */
const TWO_AT_ONCE = '--parallel=2'
const ONE_AT_A_TIME = '--parallel=1'

const firstOption = Bun.argv.slice(2).findIndex((argument) => argument.startsWith('-'))
const end = firstOption === -1 ? undefined : firstOption + 2
const paths = Bun.argv.slice(2, end)
const options = end === undefined ? [] : Bun.argv.slice(end)

const only = process.env.HOLDFAST_TEST_PAIR

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort())

const everyFile = [...new Bun.Glob('test/**/*.test.ts').scanSync({ cwd: REPOSITORY })].sort()
const chosen =
  paths.length === 0 ? everyFile : everyFile.filter((file) => paths.some((path) => isIn(file, path)))
if (chosen.length === 0) {
  console.error(`no test file is meant by ${paths.join(' ')}`)
  process.exit(1)
}
if (only === 'cluster' && clusterFiles(chosen).length === 0) {
  console.error('none of these files is run on PostgreSQL and S3: HOLDFAST_TEST_PAIR=folder runs them')
  process.exit(1)
}

// Once and before all, or the first servers of many files would do it side by side.
const built = Bun.spawnSync([process.execPath, 'web/build.ts'], {
  cwd: REPOSITORY,
  stdio: ['ignore', 'inherit', 'inherit'],
})
if (!built.success) process.exit(1)

const servers = needsServers(chosen)
  ? await startServers()
  : { variables: {}, missing: [], stop: async () => {} }
const outcomes: Outcome[] = []
try {
  if (only !== 'cluster' && !stopping.signal.aborted) {
    const variables = { ...servers.variables, HOLDFAST_TEST_PAIR: 'folder' }
    outcomes.push(await run('SQLite and a folder', chosen, variables))
  }
  const again = only === 'folder' ? [] : clusterFiles(chosen)
  if (again.length > 0 && servers.missing.length === 0 && !stopping.signal.aborted) {
    const variables = { ...servers.variables, HOLDFAST_TEST_PAIR: 'cluster' }
    outcomes.push(await run('PostgreSQL and S3, three nodes behind nginx', again, variables))
  }
} finally {
  await servers.stop()
}
process.exit(stopping.signal.aborted ? 130 : report(outcomes, servers))

/** Runs the files on one pair. Those that wait run beside the others and are told of at the end. */
async function run(
  name: string,
  files: readonly string[],
  variables: Servers['variables'],
): Promise<Outcome> {
  console.error(`\n=== ${name}: ${files.length} files\n`)
  // Bun takes it for an error when no test is left of those that an option chooses.
  const waiting = options.length === 0 ? files.filter(waits) : []
  const others = files.filter((file) => !waiting.includes(file))
  const lanes = [
    { files: others, parallel: TWO_AT_ONCE },
    { files: waiting, parallel: ONE_AT_A_TIME },
  ].filter((lane) => lane.files.length > 0)
  const running: Promise<Figures>[] = []
  for (const { files, parallel } of lanes) {
    const lane = { files, options: [...USUAL, parallel, ...options], variables, signal: stopping.signal }
    running.push(bunTests({ ...lane, shownAfter: running.at(-1) ?? null }))
  }
  const figures = await Promise.all(running)
  return {
    name,
    passed: sum(figures, ({ passed }) => passed),
    failed: sum(figures, ({ failed }) => failed),
    skipped: sum(figures, ({ skipped }) => skipped),
    failures: figures.flatMap(({ failures }) => failures),
  }
}

/** The last line is for programs: "N passed, N failed". */
function report(outcomes: readonly Outcome[], { missing }: Pick<Servers, 'missing'>): number {
  for (const { name, failures } of outcomes) {
    for (const failure of failures) console.log(`\n=== failed on ${name}: ${failure}`)
  }
  console.log()
  for (const { name, passed, failed, skipped } of outcomes) {
    console.log(`${name}: ${passed} passed, ${failed} failed, ${skipped} skipped`)
  }
  for (const { suites, reason } of missing) console.log(`did not run: ${suites}: ${reason}`)
  const notRun = process.env.CI === 'true' ? missing.length : 0
  const failed = sum(outcomes, ({ failed }) => failed) + notRun
  console.log(`${sum(outcomes, ({ passed }) => passed)} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

function sum(figures: readonly Figures[], of: (each: Figures) => number): number {
  return figures.reduce((total, each) => total + of(each), 0)
}

/** Whether the argument names the file, its folder or a part of its path, as bun takes it. */
function isIn(file: string, path: string): boolean {
  return file.includes(path.replace(/^\.\//, ''))
}

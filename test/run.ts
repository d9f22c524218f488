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
import { clusterFiles, needsServers } from './support/cluster-files.ts'
import { failuresIn } from './support/failures.ts'
import { type Servers, startServers } from './support/servers.ts'

interface Outcome {
  readonly name: string
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** What was said about each test that failed. */
  readonly failures: readonly string[]
}

const REPOSITORY = join(import.meta.dir, '..')
/**
 * Much of the time is waited for disks and clocks, so two files run at once, however many cores there are: each of them
 * may have sixty connections to PostgreSQL. Their neighbour may make tests slow, so they have time.
 */
const USUAL = ['--no-orphans', '--parallel=2', '--timeout', '120000']

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

/** One run of bun over the files. Its output is passed on as it comes. */
async function run(
  name: string,
  files: readonly string[],
  variables: Servers['variables'],
): Promise<Outcome> {
  console.error(`\n=== ${name}: ${files.length} files\n`)
  const bun = Bun.spawn(
    [process.execPath, 'test', ...USUAL, ...options, ...files.map((file) => `./${file}`)],
    {
      cwd: REPOSITORY,
      env: {
        ...process.env,
        ...(process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}),
        ...variables,
      },
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'pipe',
      signal: stopping.signal,
    },
  )
  let output = ''
  const decoder = new TextDecoder()
  for await (const piece of bun.stderr) {
    process.stderr.write(piece)
    output += decoder.decode(piece, { stream: true })
  }
  const code = await bun.exited
  const summary = Bun.stripANSI(output.slice(-4096))
  const count = (what: string) => Number(new RegExp(`^ *(\\d+) ${what}$`, 'm').exec(summary)?.[1] ?? 0)
  const [passed, failed] = [count('pass'), count('fail')]
  // An end without a summary is a failure too, and so are no tests.
  const ended = code === 0 && passed > 0
  return {
    name,
    passed,
    failed: failed === 0 && !ended ? 1 : failed,
    skipped: count('skip'),
    failures: failuresIn(output),
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
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
  const notRun = process.env.CI === 'true' ? missing.length : 0
  const failed = sum(outcomes.map((outcome) => outcome.failed)) + notRun
  console.log(`${sum(outcomes.map(({ passed }) => passed))} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

/** Whether the argument names the file, its folder or a part of its path, as bun takes it. */
function isIn(file: string, path: string): boolean {
  return file.includes(path.replace(/^\.\//, ''))
}

/** Runs `bun test` over files in a process of their own. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { notRunIn } from '../support/processes/not-run.ts'
import { outputFile } from '../support/processes/output-file.ts'
import { failuresIn } from './failures.ts'

export interface Figures {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** What `reportNotRun` said. */
  readonly notRun: readonly string[]
  /** Output of each failed test. */
  readonly failures: readonly string[]
}

export interface FileRun extends Figures {
  readonly seconds: number
  /** CPU seconds of `bun test` and of all processes that were waited for. */
  readonly processorSeconds: number
  /** All output of the process. */
  readonly output: string
  /** Where each test that ran is written, as file and line: the rows of a table are one test. */
  readonly places: ReadonlySet<string>
}

export interface FileRunOptions {
  /** Relative to the repository's root, or absolute. */
  readonly files: readonly string[]
  /** Options for `bun test`. */
  readonly options: readonly string[]
  readonly variables: Readonly<Record<string, string>>
  /** Milliseconds after which the process is killed with its descendants. */
  readonly limit: number
  readonly signal: AbortSignal
  /** Where a copy of the repository is that is to be tested instead. */
  readonly root?: string
}

const REPOSITORY = join(import.meta.dir, '../..')
/** Milliseconds between the request to end and SIGKILL. */
const GRACE = 5000
const NONE_CHOSEN = /matched 0 tests/
/** A test case in a JUnit report. */
const PLACE = /<testcase [^>]*\bfile="([^"]*)" line="(\d+)"/g
const RESULT = /^\((?:pass|fail|skip|todo)\) .*$/gm

export async function runFiles({
  files,
  options,
  variables,
  limit,
  signal,
  root = REPOSITORY,
}: FileRunOptions): Promise<FileRun> {
  const output = outputFile()
  const report = join(tmpdir(), `holdfast-test-${crypto.randomUUID()}.xml`)
  const started = performance.now()
  const paths = files.map((file) => (file.startsWith('/') ? file : `./${file}`))
  const bun = Bun.spawn(
    [process.execPath, 'test', ...options, '--reporter=junit', `--reporter-outfile=${report}`, ...paths],
    {
      cwd: root,
      env: {
        ...process.env,
        // With these, `bun test` runs the "test" script of package.json, which would recurse for ever.
        BUN_OPTIONS: undefined,
        ...(process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}),
        ...variables,
      },
      stdin: 'ignore',
      stdout: output.descriptor,
      stderr: output.descriptor,
      // A process group of its own, so that descendants can be ended too.
      detached: true,
    },
  )
  let tooLong = false
  const timer = setTimeout(() => {
    tooLong = true
    end()
  }, limit)
  const end = () => {
    signalGroup(bun.pid, 'SIGTERM')
    setTimeout(() => signalGroup(bun.pid, 'SIGKILL'), GRACE).unref()
  }
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  const code = await bun.exited
  clearTimeout(timer)
  signal.removeEventListener('abort', end)
  output.close()
  const text = output.text()
  const figures = figuresOf(text)
  const seconds = (performance.now() - started) / 1000
  const processorSeconds = Number(bun.resourceUsage()?.cpuTime.total ?? 0) / 1e6
  const took = { seconds, processorSeconds, places: placesIn(report) }
  // A missing summary counts as a failure, as does an empty run unless options have excluded every test.
  const { passed, failed, skipped } = figures
  const isMissing = failed === 0 && (code !== 0 || passed + skipped === 0) && !NONE_CHOSEN.test(text)
  if (!tooLong && !isMissing) return { ...figures, ...took, output: text }
  const what = tooLong
    ? `killed after ${Math.round(seconds)} s, its limit`
    : `ended with ${code} and without a result`
  const failure = `${files.join(', ')}: ${what}; ${lastOf(text)}\n${text.slice(-2000)}`
  return { ...figures, failed: failed + 1, failures: [...figures.failures, failure], ...took, output: text }
}

function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** Reads the report and removes it. There is none of a process that was killed. */
function placesIn(report: string): Set<string> {
  if (!existsSync(report)) return new Set()
  const tests = readFileSync(report, 'utf8').matchAll(PLACE)
  rmSync(report)
  return new Set([...tests].map(([, file, line]) => `${file}:${line}`))
}

function figuresOf(output: string): Figures {
  const summary = Bun.stripANSI(output.slice(-4096))
  const count = (what: string) => Number(new RegExp(`^ *(\\d+) ${what}$`, 'm').exec(summary)?.[1] ?? 0)
  return {
    passed: count('pass'),
    failed: count('fail'),
    skipped: count('skip'),
    notRun: notRunIn(output),
    failures: failuresIn(output),
  }
}

function lastOf(output: string): string {
  const last = Bun.stripANSI(output).match(RESULT)?.at(-1)
  return last === undefined ? 'no test of it had ended' : `the last test that ended: ${last}`
}

/** Runs `bun test` over files in a process of their own. */
import { join } from 'node:path'
import { notRunIn } from '../support/processes/not-run.ts'
import { outputFile } from '../support/processes/output-file.ts'

export interface FileRun {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** What `reportNotRun` said. */
  readonly notRun: readonly string[]
  /** Output of each failed test. */
  readonly failures: readonly string[]
  readonly seconds: number
  /** All output of the process. */
  readonly output: string
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
/** Lines of context around the name of a failed test: the error may precede or follow it. */
const BEFORE = 30
const AFTER = 25

const NONE_CHOSEN = /matched 0 tests/
const RESULT = /^\((?:pass|fail|skip|todo)\) /
const FILE = /^test\/.*\.test\.ts:$/
const SUMMARY = /^ ?\d+ (?:pass|tests? failed:|tests skipped:)/

export async function runFiles(options: FileRunOptions): Promise<FileRun> {
  const { files, limit, signal, root = REPOSITORY } = options
  const output = outputFile()
  const started = performance.now()
  const paths = files.map((file) => (file.startsWith('/') ? file : `./${file}`))
  const bun = Bun.spawn([process.execPath, 'test', ...options.options, ...paths], {
    cwd: root,
    env: {
      ...process.env,
      // With these, `bun test` runs the "test" script of package.json, which would recurse for ever.
      BUN_OPTIONS: undefined,
      ...(process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}),
      ...options.variables,
    },
    stdin: 'ignore',
    stdout: output.descriptor,
    stderr: output.descriptor,
    // A process group of its own, so that descendants can be ended too.
    detached: true,
  })
  const end = () => {
    signalGroup(bun.pid, 'SIGTERM')
    setTimeout(() => signalGroup(bun.pid, 'SIGKILL'), GRACE).unref()
  }
  let tooLong = false
  const timer = setTimeout(() => {
    tooLong = true
    end()
  }, limit)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  const code = await bun.exited
  clearTimeout(timer)
  signal.removeEventListener('abort', end)
  output.close()

  const text = output.text()
  const plain = Bun.stripANSI(text)
  const count = (what: string) =>
    Number(new RegExp(`^ *(\\d+) ${what}$`, 'm').exec(plain.slice(-4096))?.[1] ?? 0)
  const [passed, failed, skipped] = [count('pass'), count('fail'), count('skip')]
  const seconds = (performance.now() - started) / 1000
  const failures = failuresIn(plain)
  const run = { passed, failed, skipped, notRun: notRunIn(text), failures, seconds, output: text }
  // A missing summary counts as a failure, as does an empty run unless options have excluded every test.
  const isMissing = failed === 0 && (code !== 0 || passed + skipped === 0) && !NONE_CHOSEN.test(plain)
  if (!tooLong && !isMissing) return run
  const what = tooLong
    ? `killed after ${Math.round(seconds)} s, its limit`
    : `ended with ${code} and without a result`
  const last = plain.split('\n').findLast((line) => RESULT.test(line)) ?? 'none'
  const failure = `${files.join(', ')}: ${what}; the last test that ended: ${last}\n${text.slice(-2000)}`
  return { ...run, failed: failed + 1, failures: [...failures, failure] }
}

function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/**
 * Each failed test of a run: its file, its name and the lines around it. Bun prints failures where they occur, thousands of
 * lines before the end, which is all that is kept of some runs.
 */
function failuresIn(output: string): string[] {
  const lines = output.split('\n')
  const end = lines.findIndex((line) => SUMMARY.test(line))
  const told = end === -1 ? lines : lines.slice(0, end)
  return told.flatMap((line, index) => {
    if (!line.startsWith('(fail) ')) return []
    const file = told.slice(0, index).findLast((earlier) => FILE.test(earlier)) ?? ''
    const before = told.slice(Math.max(0, index - BEFORE), index)
    const after = told.slice(index + 1, index + 1 + AFTER)
    const start = before.findLastIndex(isBorder) + 1
    const stop = after.findIndex(isBorder)
    const around = [...before.slice(start), line, ...after.slice(0, stop === -1 ? AFTER : stop)]
    return [`${file}\n${around.join('\n').trim()}`]
  })
}

function isBorder(line: string): boolean {
  return RESULT.test(line) || FILE.test(line)
}

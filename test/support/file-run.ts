/** `bun test` over one file, in a process of its own, and what came of it. */
import { join } from 'node:path'
import { failuresIn } from './failures.ts'
import { outputFile } from './output-file.ts'

export interface Figures {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** What was said about each test that failed. */
  readonly failures: readonly string[]
}

export interface FileRun extends Figures {
  readonly seconds: number
  /** All that the process wrote. */
  readonly output: string
}

export interface FileRunOptions {
  /** From the repository's root, or absolute. */
  readonly file: string
  /** Of `bun test`. */
  readonly options: readonly string[]
  readonly variables: Readonly<Record<string, string>>
  /** Milliseconds after which the process is killed with all that it started. */
  readonly limit: number
  readonly signal: AbortSignal
}

const REPOSITORY = join(import.meta.dir, '../..')
/** Milliseconds from the request to end until the end. */
const GRACE = 5000
const NONE_CHOSEN = /matched 0 tests/
const RESULT = /^\((?:pass|fail|skip|todo)\) .*$/gm

export async function runFile({ file, options, variables, limit, signal }: FileRunOptions): Promise<FileRun> {
  const output = outputFile()
  const started = performance.now()
  const bun = Bun.spawn([process.execPath, 'test', ...options, file.startsWith('/') ? file : `./${file}`], {
    cwd: REPOSITORY,
    env: { ...process.env, ...(process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}), ...variables },
    stdin: 'ignore',
    stdout: output.descriptor,
    stderr: output.descriptor,
    // A process group of its own, which is ended whole.
    detached: true,
  })
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
  // An end without a summary is a failure too, and so are no tests, but where options have left none of the file.
  const { passed, failed, skipped } = figures
  const isMissing = failed === 0 && (code !== 0 || passed + skipped === 0) && !NONE_CHOSEN.test(text)
  if (!tooLong && !isMissing) return { ...figures, seconds, output: text }
  const what = tooLong
    ? `killed after ${Math.round(seconds)} s, its limit`
    : `ended with ${code} and without a result`
  const failure = `${file}: ${what}; ${lastOf(text)}\n${text.slice(-2000)}`
  return { ...figures, failed: failed + 1, failures: [...figures.failures, failure], seconds, output: text }
}

function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

function figuresOf(output: string): Figures {
  const summary = Bun.stripANSI(output.slice(-4096))
  const count = (what: string) => Number(new RegExp(`^ *(\\d+) ${what}$`, 'm').exec(summary)?.[1] ?? 0)
  return {
    passed: count('pass'),
    failed: count('fail'),
    skipped: count('skip'),
    failures: failuresIn(output),
  }
}

function lastOf(output: string): string {
  const last = Bun.stripANSI(output).match(RESULT)?.at(-1)
  return last === undefined ? 'no test of it had ended' : `the last test that ended: ${last}`
}

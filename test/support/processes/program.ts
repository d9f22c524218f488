/** Runs programs and captures their output in files, as `output-file.ts` explains. */
import { outputFile } from './output-file.ts'

export interface Outcome {
  readonly code: number
  readonly output: string
  readonly errors: string
}

export interface ProgramOptions {
  readonly cwd?: string
  /** The whole environment; by default that of the tests. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly stdin?: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
}

export interface RunningProgram {
  /** Standard output so far. */
  output(): string
  /** Standard error so far. */
  errors(): string
  readonly ended: Promise<Outcome>
  kill(signal: NodeJS.Signals): void
}

/** Milliseconds between two checks of a program's output. */
const LOOK_EVERY = 5

export function startProgram(command: readonly string[], options: ProgramOptions = {}): RunningProgram {
  const { cwd, env, stdin = 'ignore' } = options
  const [output, errors] = [outputFile(), outputFile()]
  const child = Bun.spawn([...command], {
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env: { ...env } }),
    stdin,
    stdout: output.descriptor,
    stderr: errors.descriptor,
  })
  const ended = child.exited.then((code): Outcome => {
    for (const file of [output, errors]) file.close()
    return { code, output: output.text(), errors: errors.text() }
  })
  return { output: output.text, errors: errors.text, ended, kill: (signal) => child.kill(signal) }
}

/** Runs the program to its end. */
export function runProgram(command: readonly string[], options: ProgramOptions = {}): Promise<Outcome> {
  return startProgram(command, options).ended
}

/** Calls `seen` with the output as it grows, and once more at the end. */
export async function watchProgram(
  program: RunningProgram,
  seen: (said: { readonly output: string; readonly errors: string }) => void | Promise<void>,
): Promise<Outcome> {
  let isOver = false
  const ended = program.ended.finally(() => {
    isOver = true
  })
  while (!isOver) {
    await seen({ output: program.output(), errors: program.errors() })
    await Promise.race([Bun.sleep(LOOK_EVERY), ended])
  }
  const outcome = await ended
  await seen(outcome)
  return outcome
}

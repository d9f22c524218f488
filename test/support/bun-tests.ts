/** `bun test` over some files, and what came of it. */
import { join } from 'node:path'
import { failuresIn } from './failures.ts'
import { type OutputFile, outputFile } from './output-file.ts'

export interface Figures {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** What was said about each test that failed. */
  readonly failures: readonly string[]
}

export interface BunTests {
  readonly files: readonly string[]
  readonly options: readonly string[]
  readonly variables: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** The output is shown after these others have ended, with whose output it would mix; null: as it comes. */
  readonly shownAfter: Promise<unknown> | null
}

const REPOSITORY = join(import.meta.dir, '../..')

export async function bunTests({
  files,
  options,
  variables,
  signal,
  shownAfter,
}: BunTests): Promise<Figures> {
  const [output, errors] = [outputFile(), outputFile()]
  const bun = Bun.spawn([process.execPath, 'test', ...options, ...files.map((file) => `./${file}`)], {
    cwd: REPOSITORY,
    env: { ...process.env, ...(process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}), ...variables },
    stdin: 'ignore',
    stdout: output.descriptor,
    stderr: errors.descriptor,
    signal,
  })
  let hasEnded = false
  const ended = bun.exited.finally(() => {
    hasEnded = true
    for (const file of [output, errors]) file.close()
  })
  await shownAfter
  await Promise.all([
    shown(output, process.stdout, () => hasEnded),
    shown(errors, process.stderr, () => hasEnded),
  ])
  return figuresOf(errors.text(), await ended)
}

/** Milliseconds between two looks at what there is to be shown. */
const LOOK_EVERY = 100

/** Shows what comes, and returns when all of it is shown. */
async function shown(file: OutputFile, screen: NodeJS.WriteStream, hasEnded: () => boolean): Promise<void> {
  for (let length = 0; ; ) {
    const isLast = hasEnded()
    const text = file.text()
    // The process may end right after, and must not leave anything unwritten that a slow reader has not taken yet.
    await new Promise<void>((resolve) => screen.write(text.slice(length), () => resolve()))
    length = text.length
    if (isLast) return
    await Bun.sleep(LOOK_EVERY)
  }
}

function figuresOf(output: string, code: number): Figures {
  const summary = Bun.stripANSI(output.slice(-4096))
  const count = (what: string) => Number(new RegExp(`^ *(\\d+) ${what}$`, 'm').exec(summary)?.[1] ?? 0)
  const [passed, failed] = [count('pass'), count('fail')]
  // An end without a summary is a failure too, and so are no tests.
  const ended = code === 0 && passed > 0
  return {
    passed,
    failed: failed === 0 && !ended ? 1 : failed,
    skipped: count('skip'),
    failures: failuresIn(output),
  }
}

/** `bun test` over some files, and what came of it. */
import { join } from 'node:path'
import { failuresIn } from './failures.ts'

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
  const bun = Bun.spawn([process.execPath, 'test', ...options, ...files.map((file) => `./${file}`)], {
    cwd: REPOSITORY,
    env: { ...process.env, ...(process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}), ...variables },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    signal,
  })
  const [said, told] = await Promise.all([
    taken(bun.stdout, shownAfter === null ? Bun.stdout : null),
    taken(bun.stderr, shownAfter === null ? Bun.stderr : null),
  ])
  const code = await bun.exited
  if (shownAfter !== null) {
    await shownAfter
    await Bun.write(Bun.stdout, said)
    await Bun.write(Bun.stderr, told)
  }
  return figuresOf(told, code)
}

/** The whole of it; what comes is shown there meanwhile. */
async function taken(stream: ReadableStream<Uint8Array>, screen: Bun.BunFile | null): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const piece of stream) {
    // The process may end right after, and must not leave anything unwritten that a slow reader has not taken yet.
    if (screen !== null) await Bun.write(screen, piece)
    text += decoder.decode(piece, { stream: true })
  }
  return text
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

/** The command line within the tests' process: a child would take several times as long to start as most commands take. */
import { Writable } from 'node:stream'
import { ends } from '../eventually.ts'
import { type Outcome, onlyThese } from './command.ts'

let last: Promise<unknown> = Promise.resolve()
/** Seconds in which a command ends; those after one that does not would wait in vain, and fail at once. */
const LONGEST = 30

/**
 * `holdfast` of `command.ts` for tests that are not about the process: neither signals and crashes, nor a server that
 * starts, which ends its process. One command at a time, because folder, umask and output are those of the process.
 */
export function holdfastHere(
  folder: string,
  words: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const outcome = last.then(() => runIn(folder, words, settings))
  last = ends(
    `holdfast ${words[0]}`,
    outcome.catch(() => {}),
    LONGEST,
  )
  last.catch(() => {})
  return outcome
}

async function runIn(
  folder: string,
  words: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<Outcome> {
  await using replaced = new AsyncDisposableStack()
  const output = replaced.use(capture('stdout'))
  const errors = replaced.use(capture('stderr'))
  replaced.use(forgetSignals())
  const [before, umask] = [process.cwd(), process.umask()]
  replaced.defer(() => {
    process.chdir(before)
    process.umask(umask)
  })
  process.chdir(folder)
  // Loaded here, because the program looks once whether its output is a terminal.
  const { run } = await import('../../../src/cli/program.ts')
  const code = await run(words, onlyThese(settings))
  return { code, output: output.text(), errors: errors.text() }
}

/** Replaces a stream of the process; one that is no terminal. */
function capture(name: 'stdout' | 'stderr'): Disposable & { text(): string } {
  const parts: Buffer[] = []
  const stream = new Writable({
    write(part: Buffer, _encoding, done) {
      parts.push(part)
      done()
    },
  })
  const own = Object.getOwnPropertyDescriptor(process, name)
  if (own === undefined) throw new Error(`this process has no ${name}`)
  Object.defineProperty(process, name, { configurable: true, value: stream })
  return {
    text: () => Buffer.concat(parts).toString(),
    [Symbol.dispose]: () => void Object.defineProperty(process, name, own),
  }
}

/** Removes the handlers that a command adds for signals, which would outlive it here. */
function forgetSignals(): Disposable {
  const signals = ['SIGTERM', 'SIGINT'] as const
  const before = new Set(signals.flatMap((signal) => process.listeners(signal)))
  return {
    [Symbol.dispose]() {
      for (const signal of signals) {
        for (const listener of process.listeners(signal)) {
          if (!before.has(listener)) process.off(signal, listener)
        }
      }
    },
  }
}

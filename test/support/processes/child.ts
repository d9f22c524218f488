/** The real program as a child process, for tests that kill, stop and observe it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { patient } from '../patience.ts'
import { outputFile } from './output-file.ts'
import { runProgram } from './program.ts'

const REPOSITORY = join(import.meta.dir, '../../..')
const PROGRAM = [process.execPath, '--no-env-file', join(REPOSITORY, 'src/main.ts')]
/** Bytes of a child's output to keep; a soak test would exhaust the memory otherwise. */
const KEPT_OUTPUT = 4 * 1024 * 1024
const START_DEADLINE = patient(60)
/** Milliseconds between two checks whether a child listens. */
const LOOK_EVERY = 10

const listening = z.object({ msg: z.literal('listening'), url: z.string() })
const account = z.object({ id: z.number(), username: z.string(), api_key: z.string() })

/** HOLDFAST_ variables without that prefix: `{ PORT: '0' }`. */
export type ChildSettings = Readonly<Record<string, string>>

/** What a server runs under. */
export interface ChildWrapping {
  /** A program with options of its own that becomes the server: `['setsid']`. */
  readonly command?: readonly string[]
  /** Further variables of the environment. */
  readonly environment?: Readonly<Record<string, string>>
}

export interface Exit {
  /** null when a signal ended the process. */
  readonly code: number | null
  readonly signal: string | null
}

export interface Child {
  readonly pid: number
  /** Resolves with the address once the server listens; rejects when the process ends before. */
  readonly listening: Promise<string>
  readonly exited: Promise<Exit>
  /** Standard output and error so far, or the last megabytes of them. */
  output(): string
  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGKILL' | 'SIGSTOP'): void
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>
  /** Sends SIGTERM; throws when the exit code is not 0. */
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface ChildServer extends Child {
  readonly url: string
}

export interface ChildAccount {
  readonly id: number
  readonly username: string
  readonly apiKey: string
}

export interface TemporaryFolder {
  readonly path: string
  [Symbol.dispose](): void
}

/**
 * Base directory for files handed to Chromium, which cannot read below /dev, where tests may have their
 * temporary folder.
 */
export const FOR_CHROMIUM = '/var/tmp'

/** A temporary folder, removed when it goes out of scope or the process exits. */
export function temporaryFolder(within = tmpdir()): TemporaryFolder {
  const path = mkdtempSync(join(within, 'holdfast-test-'))
  folders.add(path)
  return {
    path,
    [Symbol.dispose]() {
      rmSync(path, { recursive: true, force: true })
      folders.delete(path)
    },
  }
}

/** Starts a server on a free port, without waiting for it. */
export function launchChild(
  dataDir: string,
  settings: ChildSettings = {},
  wrapping: ChildWrapping = {},
): Child {
  const output = outputFile(KEPT_OUTPUT)
  const child = Bun.spawn([...(wrapping.command ?? []), ...PROGRAM, 'serve'], {
    // A developer's .env must not affect tests.
    cwd: tmpdir(),
    env: { ...environment(dataDir, settings), ...wrapping.environment },
    stdin: 'ignore',
    stdout: output.descriptor,
    stderr: output.descriptor,
  })
  running.add(child)
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  // A caller that only kills the child does not await this.
  promise.catch(() => {})
  const timer = setInterval(() => {
    const [line] = logLines(output.text()).flatMap((each) => listening.safeParse(each).data ?? [])
    if (line === undefined) return
    resolve(line.url)
    clearInterval(timer)
  }, LOOK_EVERY)
  const exited = child.exited.then((): Exit => {
    running.delete(child)
    clearInterval(timer)
    const { signalCode } = child
    const exit = {
      code: signalCode === null ? child.exitCode : null,
      signal: signalCode === null ? null : String(signalCode),
    }
    output.close()
    reject(new Error(`the server ended before it listened (${Bun.inspect(exit)}):\n${output.text()}`))
    return exit
  })
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  return {
    pid: child.pid,
    listening: promise,
    exited,
    output: output.text,
    signal: (name) => child.kill(name),
    kill,
    async stop() {
      child.kill('SIGTERM')
      const { code, signal } = await exited
      if (code !== 0) throw new Error(`the server ended with ${code ?? signal} at SIGTERM:\n${output.text()}`)
    },
    [Symbol.asyncDispose]: kill,
  }
}

/** Starts a server and waits until it listens. */
export async function startChild(
  dataDir: string,
  settings: ChildSettings = {},
  wrapping: ChildWrapping = {},
): Promise<ChildServer> {
  const child = launchChild(dataDir, settings, wrapping)
  const late = setTimeout(() => child.signal('SIGKILL'), START_DEADLINE)
  try {
    return { ...child, url: await child.listening }
  } finally {
    clearTimeout(late)
  }
}

/** Adds an account with the command line, with or without a running server. */
export async function addAccount(
  dataDir: string,
  username: string,
  settings: ChildSettings = {},
): Promise<ChildAccount> {
  const { code, output, errors } = await runProgram([...PROGRAM, 'account', 'add', username, '--json'], {
    // A developer's .env must not affect tests.
    cwd: tmpdir(),
    env: environment(dataDir, settings),
  })
  if (code !== 0) throw new Error(`account add ended with ${code}: ${errors}`)
  const { id, username: name, api_key: apiKey } = account.parse(parsed(output))
  return { id, username: name, apiKey }
}

/** Complete lines of output that are JSON objects. */
export function logLines(output: string): Record<string, unknown>[] {
  return output.split('\n').flatMap((line) => {
    const { success, data } = z.record(z.string(), z.unknown()).safeParse(parsed(line))
    return success ? [data] : []
  })
}

/** Passes no variables of the tests or the machine to the server, which refuses unknown settings. */
function environment(dataDir: string, settings: ChildSettings): Record<string, string> {
  const own = Object.entries({ HOST: '127.0.0.1', PORT: '0', DATA_DIR: dataDir, ...settings })
  return {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '/',
    ...Object.fromEntries(own.map(([name, value]) => [`HOLDFAST_${name}`, value])),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const running = new Set<Bun.Subprocess>()
const folders = new Set<string>()

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  for (const path of folders) rmSync(path, { recursive: true, force: true })
})

/** The client as a person has it, with a home of its own. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Api, api } from '../clients/api.ts'
import { eventually } from '../eventually.ts'
import { startProgram } from '../processes/program.ts'
import type { TestHoldfast } from '../servers/holdfast.ts'
import { LAUNCHER, MAIN, type Outcome, onlyThese, outcome } from './command.ts'
import { holdfastHere } from './command-here.ts'

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
}

export interface Client {
  /** The folder in which it runs, empty at first. */
  readonly folder: string
  /** Where it keeps logins and what is half done. */
  readonly home: string
  /** In the process of the tests. */
  run(...words: string[]): Promise<Outcome>
  /** The real program. */
  runWith(options: RunOptions, ...words: string[]): Promise<Outcome>
  /** By the launcher that npm puts into the path. */
  launch(...words: string[]): Promise<Outcome>
  /** Starts it and does not wait. */
  start(...words: string[]): Started
  /** Starts it for somebody at a terminal. */
  onTerminal(...words: string[]): AtTerminal
  /** Logs in; throws when that fails. */
  login(server: string, key: string): Promise<void>
  [Symbol.dispose](): void
}

export interface Started {
  /** How it ends. */
  readonly outcome: Promise<Outcome>
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
}

export interface AtTerminal {
  readonly exited: Promise<number>
  /** All that was written to the terminal so far. */
  shown(): string
  /** Returns when the text has been shown. */
  until(text: string): Promise<void>
  type(keys: string): void
  /** SIGTERM. */
  end(): void
}

/** A client that is logged in to an account of its own, and the same account by the API. */
export async function loggedIn(host: TestHoldfast): Promise<{ client: Client; account: Api }> {
  const { apiKey } = await host.addAccount()
  const client = newClient()
  await client.login(host.url, apiKey)
  return { client, account: api(host, apiKey) }
}

export function newClient(): Client {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-test-'))
  const folder = join(home, 'work')
  mkdirSync(folder)

  const homes = {
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_STATE_HOME: join(home, 'state'),
  }

  function spawn(words: readonly string[], { env = {}, stdin }: RunOptions): Started {
    const program = startProgram([process.execPath, '--no-env-file', MAIN, ...words], {
      cwd: folder,
      env: onlyThese({ ...homes, ...env }),
      ...(stdin === undefined ? {} : { stdin }),
    })
    return {
      outcome: program.ended,
      async kill() {
        program.kill('SIGKILL')
        await program.ended
      },
    }
  }

  const runWith = (options: RunOptions, ...words: string[]) => spawn(words, options).outcome
  return {
    folder,
    home,
    run: (...words) => holdfastHere(folder, words, homes),
    runWith,
    onTerminal: (...words) => atTerminal(words, folder, homes),
    launch: (...words) => outcome(['node', LAUNCHER, ...words], folder, homes),
    start: (...words) => spawn(words, {}),
    async login(server, key) {
      const { code, errors } = await holdfastHere(folder, ['login', server], {
        ...homes,
        HOLDFAST_API_KEY: key,
      })
      if (code !== 0) throw new Error(`the login failed: ${errors}`)
    },
    [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }),
  }
}

function atTerminal(
  words: readonly string[],
  folder: string,
  variables: Readonly<Record<string, string>>,
): AtTerminal {
  let shown = ''
  const decoder = new TextDecoder()
  const child = Bun.spawn([process.execPath, '--no-env-file', MAIN, ...words], {
    cwd: folder,
    env: onlyThese({ TERM: 'xterm-256color', ...variables }),
    terminal: {
      cols: 100,
      rows: 30,
      data(_terminal, data) {
        shown += decoder.decode(data, { stream: true })
      },
    },
  })
  return {
    exited: child.exited.finally(() => child.terminal?.close()),
    shown: () => shown,
    until: (text) => eventually(`"${text}" is shown`, () => shown.includes(text)),
    type: (keys) => void child.terminal?.write(keys),
    end: () => child.kill('SIGTERM'),
  }
}

/** The lines of an output, without the last, empty one. */
export function lines(output: string): string[] {
  return output.split('\n').filter((line) => line !== '')
}

/** The command line as people run it: a child process in a folder of its own, with nothing of our environment. */
import { join } from 'node:path'
import { logLines } from '../processes/child.ts'
import { type Outcome, runProgram, startProgram, watchProgram } from '../processes/program.ts'

export type { Outcome }

export const REPOSITORY = join(import.meta.dir, '../../..')
export const MAIN = join(REPOSITORY, 'src/main.ts')
/** What npm puts into the path as `holdfast`. */
export const LAUNCHER = join(REPOSITORY, 'bin/holdfast.js')

/** Runs `holdfast` with these words in a folder and waits for its end. */
export async function holdfast(
  folder: string,
  words: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  return outcome([process.execPath, '--no-env-file', MAIN, ...words], folder, settings)
}

/** Runs a program with only the path, the home folder and these variables. */
export async function outcome(
  command: readonly string[],
  folder: string,
  variables: Readonly<Record<string, string>>,
): Promise<Outcome> {
  return runProgram(command, { cwd: folder, env: onlyThese(variables) })
}

/** Runs `serve` in a folder, uses the server once it listens, and ends it with the signal that comes back. */
export async function serving(
  program: readonly string[],
  folder: string,
  use: (url: string) => Promise<'SIGTERM' | 'SIGINT' | 'SIGKILL'>,
): Promise<{ code: number; lines: Record<string, unknown>[] }> {
  const server = startProgram([...program, 'serve'], {
    cwd: folder,
    env: onlyThese({ HOLDFAST_PORT: '0', HOLDFAST_DATA_DIR: join(folder, 'data') }),
  })
  let used = false
  try {
    const { code, output } = await watchProgram(server, async ({ output }) => {
      const listening = logLines(output).find(({ msg }) => msg === 'listening')
      if (used || listening === undefined) return
      used = true
      server.kill(await use(String(listening.url)))
    })
    return { code, lines: logLines(output) }
  } finally {
    // Waited for, because a launcher that is killed before it has passed the signal on would leave its server behind.
    server.kill('SIGTERM')
    await server.ended
  }
}

/** The environment of a child: what programs need to be found, and nothing that is set on this machine. */
export function onlyThese(variables: Readonly<Record<string, string>>): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/', ...variables }
}

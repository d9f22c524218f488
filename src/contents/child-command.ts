/**
 * Runs a command of this program in a child process, for a server. A failing disk or an unreachable network folder may
 * block every call for minutes; in the server itself that would stop answers.
 */
import { join } from 'node:path'
import type { Config, S3Config, StorePlace } from '../config.ts'
import { endsWithin } from '../domain/abort.ts'
import { SECOND } from '../domain/clock.ts'
import { ROOT } from '../program/entries.ts'
import { settings } from '../settings.ts'

const MAIN = join(ROOT, 'src/main.ts')
const ASKS_EVERY = SECOND / 2
/** Time to stop before a kill; a process blocked by the disk cannot be killed, and is left. */
const STOPS_WITHIN = 2 * SECOND
const LONGEST_LINE = 2000
const LONGEST_OUTPUT = 64 * 1024

export type ChildEnvironment = Readonly<Record<string, string | undefined>>

interface ChildCommand {
  readonly words: readonly string[]
  readonly env: ChildEnvironment
  /** Lines before the error. */
  readonly tell: (line: string) => void
}

export interface ChildEnd {
  readonly code: number | null
  readonly output: string
  /** Empty for none. */
  readonly failure: string
}

/** Ends with the process; null soon after `mayGoOn` returned false. */
export async function runChildCommand(
  { words, env, tell }: ChildCommand,
  mayGoOn: () => boolean,
): Promise<ChildEnd | null> {
  const child = Bun.spawn([process.execPath, '--no-env-file', MAIN, ...words], {
    env,
    // The child stops when its stdin ends, also when the server is killed.
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  child.unref()
  let [failure, output] = ['', '']
  const said = Promise.all([
    eachLine(child.stderr, LONGEST_LINE, (line) => {
      // The error comes last, in one line or more.
      if (failure !== '' || line.startsWith('error: '))
        failure = `${failure} ${line}`.trim().slice(0, LONGEST_LINE)
      else tell(line)
    }),
    eachLine(child.stdout, LONGEST_OUTPUT, (line) => {
      output = line
    }),
  ])
  while (!(await endsWithin(ASKS_EVERY, child.exited))) {
    if (mayGoOn()) continue
    child.stdin.end()
    if (!(await endsWithin(STOPS_WITHIN, child.exited))) child.kill('SIGKILL')
    await endsWithin(SECOND, said)
    return null
  }
  await endsWithin(SECOND, said)
  return { code: child.exitCode, output, failure: failure.replace('error: ', '') }
}

/** Ends when the stream fails, without throwing: the exit says more. */
async function eachLine(
  stream: ReadableStream<Uint8Array>,
  longest: number,
  take: (line: string) => void,
): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const chunk of stream) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = (lines.pop() ?? '').slice(0, longest)
      for (const line of lines) take(line.slice(0, longest))
    }
  } catch {}
  if (rest !== '') take(rest)
}

export function withoutSettings(inherited: ChildEnvironment): ChildEnvironment {
  return Object.fromEntries(Object.entries(inherited).filter(([name]) => !name.startsWith('HOLDFAST_')))
}

export function storageEnvironment(config: Config, connections: number): ChildEnvironment {
  const { dataDir, groupRead, minFreeSpace, databaseUrl, databasePrepares, s3 } = config
  return {
    [settings.dataDir.variable]: dataDir,
    [settings.groupRead.variable]: groupRead ? 'on' : 'off',
    [settings.minFreeSpace.variable]: String(minFreeSpace),
    ...(databaseUrl === null
      ? {}
      : {
          [settings.databaseUrl.variable]: databaseUrl,
          [settings.databaseConnections.variable]: String(connections),
          [settings.databasePrepares.variable]: String(databasePrepares),
        }),
    ...(s3 === null
      ? {}
      : {
          [settings.s3Endpoint.variable]: s3.endpoint,
          [settings.s3Bucket.variable]: s3.bucket,
          ...s3Environment('s3', s3),
        }),
  }
}

export function placeEnvironment(of: 'backup' | 'mirror', place: StorePlace): ChildEnvironment {
  if (place.kind === 'folder') return { [settings[of].variable]: place.path }
  const { endpoint, bucket } = place.s3
  return { [settings[of].variable]: `${endpoint}/${bucket}`, ...s3Environment(`${of}S3`, place.s3) }
}

function s3Environment(of: 's3' | 'backupS3' | 'mirrorS3', s3: S3Config): ChildEnvironment {
  return {
    [settings[`${of}AccessKeyId`].variable]: s3.accessKeyId,
    [settings[`${of}SecretAccessKey`].variable]: s3.secretAccessKey,
    [settings[`${of}Region`].variable]: s3.region,
    [settings[`${of}PathStyle`].variable]: String(s3.pathStyle),
  }
}

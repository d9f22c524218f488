/**
 * Runs a command of this program in a process of its own, for a server. A disk that fails, or a folder on a network that is
 * away, may hold every call for minutes: a server that made them itself would stop answering.
 */
import { join } from 'node:path'
import type { S3Config, StorePlace } from '../config/setting-groups.ts'
import type { Config } from '../config.ts'
import { endsWithin } from '../domain/abort.ts'
import { SECOND } from '../domain/clock.ts'
import { ROOT } from '../program/entries.ts'
import { settings } from '../settings.ts'

const MAIN = join(ROOT, 'src/main.ts')
/** How often it is asked whether the process may go on. */
const ASKS_EVERY = SECOND / 2
/** So long a process that was told to stop may take before it is killed; one that the disk holds cannot be killed, and is left. */
const STOPS_WITHIN = 2 * SECOND
const LONGEST_LINE = 2000
/** Of what a process prints for a program. */
const LONGEST_OUTPUT = 64 * 1024

export type ChildEnvironment = Readonly<Record<string, string | undefined>>

interface ChildCommand {
  readonly words: readonly string[]
  readonly env: ChildEnvironment
  /** Told each line that the process says before its error. */
  readonly tell: (line: string) => void
}

/** How the process ended. */
export interface ChildEnd {
  /** Null: it was killed. */
  readonly code: number | null
  /** The last line of its standard output. */
  readonly output: string
  /** What it said was wrong; empty for nothing. */
  readonly failure: string
}

/** Ends with the process, or with null soon after `mayGoOn` has returned false. */
export async function runChildCommand(
  { words, env, tell }: ChildCommand,
  mayGoOn: () => boolean,
): Promise<ChildEnd | null> {
  const child = Bun.spawn([process.execPath, '--no-env-file', MAIN, ...words], {
    env,
    // It stops when this ends, also by a kill of the server.
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  child.unref()
  let [failure, output] = ['', '']
  const said = Promise.all([
    eachLine(child.stderr, LONGEST_LINE, (line) => {
      // The last it says, in one line or more.
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

/** Ends where the stream fails, without throwing: how the process ended says more. */
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

/** What the process inherits, without any setting. */
export function withoutSettings(inherited: ChildEnvironment): ChildEnvironment {
  return Object.fromEntries(Object.entries(inherited).filter(([name]) => !name.startsWith('HOLDFAST_')))
}

/** By which the process finds the same database and the same store. */
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

/** By which the process finds the place of backups or of the mirror. */
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

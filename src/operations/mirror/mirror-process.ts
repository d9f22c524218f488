/**
 * Runs `holdfast mirror --now` in a process of its own. A disk that fails, or a folder on a network that is away, may hold
 * every call for minutes: a server that made them itself would stop answering.
 */
import { join } from 'node:path'
import type { S3Config } from '../../config/setting-groups.ts'
import type { Config } from '../../config.ts'
import { endsWithin } from '../../domain/abort.ts'
import { SECOND } from '../../domain/clock.ts'
import { settings } from '../../settings.ts'
import { MirrorUnusable } from './mirror-store.ts'

const MAIN = join(import.meta.dir, '../../main.ts')
/** How often it is asked whether the process may go on. */
const ASKS_EVERY = SECOND / 2
/** So long a process that was told to stop may take before it is killed; one that the disk holds cannot be killed, and is left. */
const STOPS_WITHIN = 2 * SECOND
/** The least that is allowed: it works on one content after another. */
const CONNECTIONS = '2'
const LONGEST_LINE = 2000

interface MirrorProcess {
  readonly config: Config
  /** Told each line that the process says of one content. */
  readonly tell: (line: string) => void
}

/** Ends with the process, or soon after `mayGoOn` has returned false. Throws MirrorUnusable with the reason of a failure. */
export async function runMirrorProcess(
  { config, tell }: MirrorProcess,
  mayGoOn: () => boolean,
): Promise<void> {
  const child = Bun.spawn([process.execPath, '--no-env-file', MAIN, 'mirror', '--now', '--for-server'], {
    env: environmentOf(config, process.env),
    // It stops when this ends, also by a kill of the server.
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  child.unref()
  let failure = ''
  const said = eachLine(child.stderr, (line) => {
    // The last it says, in one line or more.
    if (failure !== '' || line.startsWith('error: '))
      failure = `${failure} ${line}`.trim().slice(0, LONGEST_LINE)
    else tell(line)
  })
  while (!(await endsWithin(ASKS_EVERY, child.exited))) {
    if (mayGoOn()) continue
    child.stdin.end()
    if (await endsWithin(STOPS_WITHIN, child.exited)) return
    child.kill('SIGKILL')
    return
  }
  await endsWithin(SECOND, said)
  if (child.exitCode === 0) return
  throw new MirrorUnusable(
    failure.replace('error: ', '') || `the process that keeps the mirror ended with ${child.exitCode}`,
  )
}

/** Never throws. */
async function eachLine(stream: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = (lines.pop() ?? '').slice(0, LONGEST_LINE)
    for (const line of lines) take(line.slice(0, LONGEST_LINE))
  }
  if (rest !== '') take(rest)
}

type Environment = Readonly<Record<string, string | undefined>>

/** What the process needs of the settings, and no other secret; besides, what this one inherited. */
function environmentOf(config: Config, inherited: Environment): Environment {
  const { mirror, s3 } = config
  const others = Object.entries(inherited).filter(([name]) => !name.startsWith('HOLDFAST_'))
  return {
    ...Object.fromEntries(others),
    [settings.dataDir.variable]: config.dataDir,
    [settings.groupRead.variable]: config.groupRead ? 'on' : 'off',
    [settings.minFreeSpace.variable]: String(config.minFreeSpace),
    ...(config.databaseUrl === null
      ? {}
      : {
          [settings.databaseUrl.variable]: config.databaseUrl,
          [settings.databaseConnections.variable]: CONNECTIONS,
          [settings.databasePrepares.variable]: String(config.databasePrepares),
        }),
    ...(s3 === null ? {} : storeEnvironment(s3)),
    ...(mirror === null ? {} : { [settings.mirrorRate.variable]: String(mirror.rate) }),
    ...(mirror?.place.kind === 'folder' ? { [settings.mirror.variable]: mirror.place.path } : {}),
    ...(mirror?.place.kind === 's3' ? mirrorEnvironment(mirror.place.s3) : {}),
  }
}

function storeEnvironment({ endpoint, bucket, region, accessKeyId, secretAccessKey, pathStyle }: S3Config) {
  return {
    [settings.s3Endpoint.variable]: endpoint,
    [settings.s3Bucket.variable]: bucket,
    [settings.s3Region.variable]: region,
    [settings.s3AccessKeyId.variable]: accessKeyId,
    [settings.s3SecretAccessKey.variable]: secretAccessKey,
    [settings.s3PathStyle.variable]: String(pathStyle),
  }
}

function mirrorEnvironment({ endpoint, bucket, region, accessKeyId, secretAccessKey, pathStyle }: S3Config) {
  return {
    [settings.mirror.variable]: `${endpoint}/${bucket}`,
    [settings.mirrorS3Region.variable]: region,
    [settings.mirrorS3AccessKeyId.variable]: accessKeyId,
    [settings.mirrorS3SecretAccessKey.variable]: secretAccessKey,
    [settings.mirrorS3PathStyle.variable]: String(pathStyle),
  }
}

import { type Command, InvalidArgumentError } from 'commander'
import {
  ConfigError,
  type Environment,
  fileVariable,
  shown,
  variableInUse,
  written,
} from '../config/environment.ts'
import { type Config, loadConfig } from '../config.ts'
import type { Relocated, RelocationStep } from '../contents/relocation.ts'
import { systemClock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { systemRandom } from '../domain/random.ts'
import { type BucketAddress, readBucketAddress, type Setting, settings } from '../settings.ts'
import { explain } from './failure.ts'
import { formatTime, printLines, printProblem } from './output.ts'
import { bytesPlace, databasePlace } from './session.ts'
import { type StepTitle, standardError, stepProgress } from './step-progress.ts'
import { abortedBySignal } from './stop-signal.ts'

type Options = TargetOptions & { readonly skipDamaged?: true }

const titles = {
  watch: {
    title: 'Looking whether a server runs; where one was killed, this takes half a minute',
    counts: 'nothing',
  },
  bytes: { title: 'Moving files', counts: 'bytes' },
  rows: { title: 'Copying rows', counts: 'items' },
  compare: { title: 'Comparing rows', counts: 'items' },
  switch: { title: 'Switching over', counts: 'nothing' },
} as const satisfies Record<RelocationStep, StepTitle>

export function relocateCommand(relocate: Command, environment: Environment): void {
  relocate
    .description(
      'move everything to another database, another store or both; the server is stopped meanwhile',
    )
    .option(
      '--to-database <place>',
      'postgres://user@host/database, or sqlite; the password may be given in PGPASSWORD',
      asSetting(settings.databaseUrl, 'sqlite'),
    )
    .option(
      '--to-s3 <place>',
      'https://host/bucket with the key in the settings, or none: a data folder',
      readS3Address,
    )
    .option('--to-s3-region <region>', 'the region of that store', asSetting(settings.s3Region))
    .option('--to-s3-path-style', 'put the bucket in the path instead of the host name')
    .option(
      '--to-data-dir <folder>',
      'the folder for what goes to SQLite or to files',
      asSetting(settings.dataDir),
    )
    .option('--skip-damaged', 'go on without the bytes of files that are missing or damaged already')
    .action((options: Options) => run(environment, options))
}

async function run(environment: Environment, options: Options): Promise<void> {
  const config = loadConfig(environment)
  const to = targetEnvironment(environment, options)
  const target = targetConfig(to)
  const { relocate, movedParts, TargetUnusable } = await import('../contents/relocation.ts')
  const moves = movedParts(config, target)
  assertMoves(config, target, moves, options)

  const stop = abortedBySignal('stopped; nothing is switched, and the same command goes on from here')
  process.stderr.write(
    'No server may run until this has ended, so nobody reaches the site meanwhile. How long it takes is told as soon as it has been measured.\n',
  )
  const began = systemClock.monotonic()
  const progress = stepProgress(titles, standardError, systemClock)
  let relocated: Relocated
  try {
    relocated = await relocate({
      config,
      target,
      clock: systemClock,
      random: systemRandom,
      signal: stop.signal,
      watch: progress,
      skipDamaged: options.skipDamaged === true,
      movedTo: placeOf(target, moves),
    })
  } catch (error) {
    progress.end()
    if (error instanceof TargetUnusable) {
      throw new Refusal('PRECONDITION_FAILED', inOptions(explain(error.cause, to)), undefined, {
        cause: error,
      })
    }
    if (!(error instanceof Refusal)) {
      process.stderr.write('Not everything is done. The same command, run again, goes on from here.\n')
    }
    throw error
  }
  progress.end()
  tellDamage(relocated)
  if (!relocated.isSwitched) {
    throw new Refusal(
      'PRECONDITION_FAILED',
      'some files cannot be moved, so nothing is switched. Put their bytes back or delete them, and run this again; or run it with --skip-damaged to leave their bytes behind.',
    )
  }
  process.stderr.write(`It took ${formatTime(systemClock.monotonic() - began)}.\n`)
  tellSettings(environment, to)
  tellCopies(config, moves)
  tellLeftBehind(config, moves)
}

/** Throws Refusal INVALID_REQUEST, naming the options, for an unusable place. */
function targetConfig(to: Environment): Config {
  try {
    return loadConfig(to)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const told = error.problems.map(({ variable, reason }) => `${variable}: ${reason}`).join('; ')
    throw new Refusal('INVALID_REQUEST', `the target cannot be used so: ${inOptions(told)}`)
  }
}

type Moves = { readonly rows: boolean; readonly bytes: boolean }

function assertMoves(config: Config, target: Config, moves: Moves, options: Options): void {
  if (!moves.rows && !moves.bytes) {
    throw new Refusal('INVALID_REQUEST', 'that is where everything is; name another place (see --help).')
  }
  if (options.toDataDir !== undefined && target.databaseUrl !== null && target.s3 !== null) {
    throw new Refusal(
      'INVALID_REQUEST',
      'nothing would go into the folder of --to-data-dir; leave that option out.',
    )
  }
  const sharesKey = moves.bytes && config.s3 !== null && target.s3 !== null
  if (sharesKey && config.s3?.endpoint !== target.s3?.endpoint) {
    process.stderr.write(`Both stores are asked with the key of ${settings.s3AccessKeyId.variable}.\n`)
  }
}

function placeOf(target: Config, { rows, bytes }: Moves): string {
  const parts = [...(rows ? [databasePlace(target)] : []), ...(bytes ? [bytesPlace(target)] : [])]
  return [...new Set(parts)].join(' and ')
}

function tellDamage({ damaged }: Relocated): void {
  for (const { key, reason, files } of damaged) {
    printProblem(`damaged: blob ${key} ${reason}`)
    for (const { slug, name, username, isRemoved } of files) {
      printProblem(`  ${slug}  ${name}, of ${username}${isRemoved ? ', deleted or expired' : ''}`)
    }
  }
}

function tellSettings(from: Environment, to: Environment): void {
  const { put, takeOut } = changedSettings(from, to)
  printLines('Everything is in its new place. Before the server starts again, change its settings:', '')
  if (put.length > 0) printLines('  put in', ...put.map((line) => `    ${line}`))
  if (takeOut.length > 0) printLines('  take out', ...takeOut.map((variable) => `    ${variable}`))
}

function tellLeftBehind(config: Config, moves: Moves): void {
  const left: string[] = []
  if (moves.rows) {
    const place = databasePlace(config)
    left.push(config.databaseUrl === null ? `${place}/holdfast.sqlite, -wal and -shm` : place)
  }
  if (moves.bytes)
    left.push(config.s3 === null ? `${config.dataDir}/blobs` : `${config.s3.endpoint}/${config.s3.bucket}`)
  printLines(
    '',
    'What is left behind may be deleted when all is well there:',
    '',
    ...left.map((line) => `    ${line}`),
  )
  if (moves.rows) {
    printLines('', 'A server that is started with the old settings refuses, and says where everything went.')
  }
}

/** Mirror and backups belong to the old place, and refuse the new one until told otherwise. */
function tellCopies({ mirror, backup }: Config, { bytes }: Moves): void {
  const commands = [
    ...(mirror !== null && bytes
      ? ['    holdfast mirror --adopt   the mirror goes on with what it has']
      : []),
    ...(backup.own === null
      ? []
      : ['    holdfast backup           the backups go on with a point of the new place']),
  ]
  if (commands.length > 0) printLines('', 'Run once, with the new settings:', '', ...commands)
}

export interface TargetOptions {
  /** A PostgreSQL URL, or `sqlite`. */
  readonly toDatabase?: string
  readonly toS3?: BucketAddress | 'none'
  readonly toS3Region?: string
  readonly toS3PathStyle?: true
  readonly toDataDir?: string
}

export function targetEnvironment(environment: Environment, options: TargetOptions): Environment {
  const { toDatabase, toS3, toS3Region, toS3PathStyle, toDataDir } = options
  const to: Environment = { ...environment }
  if (toDatabase !== undefined) {
    to[settings.databaseUrl.variable] = toDatabase === 'sqlite' ? undefined : toDatabase
    to[fileVariable(settings.databaseUrl) ?? ''] = undefined
  }
  if (toS3 !== undefined) {
    const address = toS3 === 'none' ? undefined : toS3
    to[settings.s3Endpoint.variable] = address?.endpoint
    to[settings.s3Bucket.variable] = address?.bucket
    if (toS3 === 'none') to[settings.s3Redirect.variable] = undefined
  }
  if (toS3Region !== undefined) to[settings.s3Region.variable] = toS3Region
  if (toS3PathStyle) to[settings.s3PathStyle.variable] = 'true'
  if (toDataDir !== undefined) to[settings.dataDir.variable] = toDataDir
  return to
}

/** Renames settings in a message to the options that gave them. The key stays a setting. */
export function inOptions(message: string): string {
  return message
    .replaceAll(settings.databaseUrl.variable, '--to-database')
    .replaceAll(settings.s3Endpoint.variable, '--to-s3')
    .replaceAll(settings.s3Bucket.variable, '--to-s3')
    .replaceAll('--to-s3 and --to-s3', '--to-s3')
    .replaceAll(`${settings.s3PathStyle.variable}=true`, '--to-s3-path-style')
    .replaceAll(settings.s3PathStyle.variable, '--to-s3-path-style')
    .replaceAll(settings.s3Region.variable, '--to-s3-region')
    .replaceAll(settings.dataDir.variable, '--to-data-dir')
}

/** Without secrets. */
export function changedSettings(from: Environment, to: Environment) {
  const every: readonly Setting<unknown>[] = Object.values(settings)
  const changed = every.filter((setting) => written(setting, from) !== written(setting, to))
  return {
    put: changed.flatMap((setting) => {
      const text = written(setting, to)
      return text === undefined ? [] : [`${setting.variable}=${shown(setting, text)}`]
    }),
    takeOut: changed
      .filter(
        (setting) =>
          variableInUse(setting, from) !== variableInUse(setting, to) || written(setting, to) === undefined,
      )
      .map((setting) => variableInUse(setting, from)),
  }
}

/** Parser for an option with the values of a setting. It throws InvalidArgumentError. */
export function asSetting(setting: Setting<unknown>, ...words: readonly string[]) {
  return (text: string): string => {
    if (words.includes(text)) return text
    if (text.trim() !== '' && setting.read(text.trim()) !== undefined) return text.trim()
    throw new InvalidArgumentError(`Allowed is ${[setting.allowed, ...words].join(', or ')}.`)
  }
}

export function readS3Address(text: string): BucketAddress | 'none' {
  if (text === 'none') return text
  const address = readBucketAddress(text)
  if (address !== undefined) return address
  throw new InvalidArgumentError(
    `Allowed is the address of a service with a bucket, such as https://s3.example.org/holdfast, or none. A bucket's name has 3 characters at least. The key comes from ${settings.s3AccessKeyId.variable} and ${settings.s3SecretAccessKey.variable}.`,
  )
}

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { type Config, loadConfig, type StorePlace } from '../../config.ts'
import type { BackedUp, BackupStep, Outcome, RetentionPolicy, TargetOptions } from '../../contents/backup.ts'
import { systemClock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { systemRandom } from '../../domain/random.ts'
import { formatSize } from '../../domain/sizes.ts'
import { settings, type WrittenPlace } from '../../settings.ts'
import { ProblemsFound } from '../failure.ts'
import { readRate } from '../options.ts'
import { count, printJson, printLines, printProblem } from '../output.ts'
import { asSetting, readS3Address } from '../relocate.ts'
import { type StepTitle, standardError, stepProgress } from '../step-progress.ts'
import { abortedBySignal } from '../stop-signal.ts'
import { damageJson, printDamage } from './damage-lines.ts'
import { silent, stopWithServer } from './server-child.ts'

interface Options extends StoreOptions {
  readonly keepDaily?: number
  readonly keepWeekly?: number
  readonly newSeries?: true
  readonly rate?: number
  readonly json?: true
  readonly forServer?: true
}

const titles = {
  bytes: { title: 'Copying files', counts: 'bytes' },
  rows: { title: 'Copying rows', counts: 'items' },
  compare: { title: 'Comparing rows', counts: 'items' },
  'new bytes': { title: 'Copying files that came meanwhile', counts: 'bytes' },
  pack: { title: 'Packing the rows', counts: 'nothing' },
  prune: { title: 'Removing what no point needs', counts: 'nothing' },
} as const satisfies Record<BackupStep, StepTitle>

/** Exits with 3 when contents were damaged already. */
export function backupCommand(backup: Command, environment: Environment): void {
  backup
    .description('add a point in time to a backup, with or without a running server')
    .argument(...TARGET)
    .option(...REGION)
    .option(...PATH_STYLE)
    .option('--keep-daily <days>', 'keep the newest point of each of so many days', readCount)
    .option('--keep-weekly <weeks>', 'keep the newest point of each of so many weeks', readCount)
    .option('--new-series', 'go on with whatever is there now, though it is not what was there before')
    .option('--rate <size>', 'copy at most so many bytes a second (50MB)', readRate)
    .option('--json', 'print {"taken_at","files","contents","bytes","copied_contents","copied_bytes",…}')
    .addOption(new Option('--for-server').hideHelp())
    .action((target: WrittenPlace | undefined, options: Options) => run(backup, environment, target, options))
}

/** Throws InvalidArgumentError. */
function readCount(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Allowed is a whole number up to 9999.')
}

/** Retention settings apply to the server only: a run by hand drops nothing unasked. */
function keepingOf(
  { keepDaily, keepWeekly, forServer }: Options,
  { backup: { own } }: Config,
): RetentionPolicy | null {
  if (keepDaily !== undefined || keepWeekly !== undefined) {
    return { daily: keepDaily ?? 0, weekly: keepWeekly ?? 0 }
  }
  return forServer && own !== null ? { daily: own.keepDaily, weekly: own.keepWeekly } : null
}

async function run(
  command: Command,
  environment: Environment,
  named: WrittenPlace | undefined,
  options: Options,
): Promise<void> {
  const config = loadConfig(environment)
  const { forServer = false } = options
  const { backUp } = await import('../../contents/backup.ts')
  const stop = abortedBySignal('stopped; no point was added, and the same command goes on from here')
  const input = forServer ? stopWithServer(stop) : null
  const progress = forServer ? silent : stepProgress(titles, standardError, systemClock)
  const made = await backUp({
    ...(await openingOf(command, named, options, { config, signal: stop.signal })),
    config,
    retention: keepingOf(options, config),
    onlyOwn: forServer,
    newSeries: options.newSeries === true,
    rate: options.rate ?? (forServer ? (config.backup.own?.rate ?? null) : null),
    watch: progress,
  }).finally(() => {
    progress.end()
    input?.end()
  })
  tellProblems(made)
  if (forServer) return printJson(outcomeOf(made))
  if (options.json) printJson(jsonOf(made))
  else tell(made)
  if (hasProblems(made)) throw new ProblemsFound()
}

const hasProblems = ({ damaged, lostPoints, unremoved }: BackedUp) =>
  damaged.length + lostPoints.length + unremoved.length > 0

function tellProblems({ lostPoints, unremoved, isOnDataDisk }: BackedUp): void {
  for (const { takenAt } of lostPoints) {
    const time = new Date(takenAt).toISOString()
    printProblem(`The rows of the point ${time} are damaged, so nobody can restore it. It is dropped.`)
  }
  if (unremoved.length > 0) {
    printProblem(
      `${count(unremoved.length, 'object')} that no point needs could not be removed, and the next run tries again: ${unremoved[0]}`,
    )
  }
  if (isOnDataDisk) {
    printProblem(
      'The backup lies on the disk of the data folder: whatever destroys the one destroys the other.',
    )
  }
}

function outcomeOf({ point, damaged }: BackedUp): Outcome {
  return { takenAt: point.takenAt, files: point.files, bytes: point.bytes, wrong: damaged.length }
}

function jsonOf({ point, copied, dropped, damaged, lostPoints, catalog }: BackedUp) {
  return {
    taken_at: new Date(point.takenAt).toISOString(),
    files: point.files,
    contents: point.contents,
    bytes: point.bytes,
    copied_contents: copied.contents,
    copied_bytes: copied.bytes,
    dropped_points: dropped,
    lost_points: lostPoints.map(({ takenAt }) => new Date(takenAt).toISOString()),
    series: catalog.series,
    number: catalog.number,
    damaged: damageJson(damaged),
  }
}

function tell({ point, copied, dropped, damaged, catalog, isNewSeries }: BackedUp): void {
  printLines(
    `The point ${new Date(point.takenAt).toISOString()} has ${count(point.files, 'file')} with ${formatSize(point.bytes)}.`,
    `${count(copied.contents, 'content')} with ${formatSize(copied.bytes)} ${copied.contents === 1 ? 'was' : 'were'} new.`,
  )
  if (dropped > 0) printLines(`${count(dropped, 'older point')} ${dropped === 1 ? 'was' : 'were'} dropped.`)
  printLines(
    `${isNewSeries ? 'A new series begins here. ' : ''}The catalog is ${catalog.series}/${catalog.number}.`,
  )
  printDamage(damaged, 'cannot be backed up')
}

export interface StoreOptions {
  readonly s3Region?: string
  readonly s3PathStyle?: true
}

export const REGION = [
  '--s3-region <region>',
  'the region of that store',
  asSetting(settings.s3Region),
] as const
export const PATH_STYLE = ['--s3-path-style', 'put the bucket in the path instead of the host name'] as const

/** A folder, or `https://host/bucket`. Throws InvalidArgumentError. */
export function readPlace(text: string): WrittenPlace {
  if (!/^https?:/.test(text)) return { folder: resolve(text) }
  const address = readS3Address(text)
  if (address !== 'none') return address
  throw new InvalidArgumentError('Allowed is a folder, or the address of a service with a bucket.')
}

export const TARGET = [
  '[target]',
  'a folder of its own, or https://host/bucket of an S3-compatible store; left out, that of HOLDFAST_BACKUP',
  readPlace,
] as const

export async function openingOf(
  command: Command,
  named: WrittenPlace | undefined,
  options: StoreOptions,
  { config, signal }: { readonly config: Config; readonly signal: AbortSignal },
): Promise<TargetOptions> {
  return { ...(await openingAt(targetOf(command, named, options, config), config)), signal }
}

export async function openingAt(place: StorePlace, config: Config): Promise<Omit<TargetOptions, 'signal'>> {
  return {
    clock: systemClock,
    random: systemRandom,
    place,
    passphrase: await passphraseOf(config),
    onWait: () => printProblem('Another run works on this backup, or was killed just now: waiting.'),
    onFault: ({ copy, reason }) =>
      printProblem(
        `Of the two copies of the catalog, "${copy}" ${reason}; the other one counts, and "${copy}" is made anew.`,
      ),
  }
}

/** The named place, or that of scheduled backups. Exits with a usage error without either. */
function targetOf(
  command: Command,
  named: WrittenPlace | undefined,
  options: StoreOptions,
  config: Config,
): StorePlace {
  if (named !== undefined) return placeOf(named, options, config)
  if (config.backup.own !== null) return config.backup.own.place
  return command.error(`error: name the backup, or set ${settings.backup.variable}`)
}

/** Throws Refusal INVALID_REQUEST where a store has no key. */
export function placeOf(
  named: WrittenPlace,
  { s3Region, s3PathStyle }: StoreOptions,
  config: Config,
): StorePlace {
  if ('folder' in named) return { kind: 'folder', path: named.folder }
  const key = config.backup.s3Key ?? config.s3
  if (key === null) {
    throw new Refusal(
      'INVALID_REQUEST',
      `set ${settings.backupS3AccessKeyId.variable} and ${settings.backupS3SecretAccessKey.variable} for that store`,
    )
  }
  const { accessKeyId, secretAccessKey } = key
  return {
    kind: 's3',
    s3: {
      ...named,
      accessKeyId,
      secretAccessKey,
      region: s3Region ?? config.s3?.region ?? settings.s3Region.default,
      pathStyle: s3PathStyle ?? config.s3?.pathStyle ?? false,
    },
  }
}

const SHORTEST = 12

/** Null: not encrypted. Throws Refusal PRECONDITION_FAILED for an unreadable file or a short passphrase. */
async function passphraseOf({ backup }: Config): Promise<string | null> {
  const path = backup.passphraseFile
  if (path === null) return null
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new Refusal('PRECONDITION_FAILED', `the passphrase in ${path} cannot be read: ${error.message}`)
  })
  if (text.trim().length >= SHORTEST) return text.trim()
  throw new Refusal(
    'PRECONDITION_FAILED',
    `${path} has to hold a passphrase of at least ${SHORTEST} characters`,
  )
}

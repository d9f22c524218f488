import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { type Config, loadConfig } from '../../config.ts'
import { systemClock } from '../../domain/clock.ts'
import { systemRandom } from '../../domain/random.ts'
import { formatSize } from '../../domain/sizes.ts'
import type { BackedUp, BackupStep, Outcome, RetentionPolicy } from '../../operations/backup/backup.ts'

import { printJson, printLines } from '../output.ts'
import { type StepTitle, standardError, stepProgress } from '../step-progress.ts'
import { abortedBySignal } from '../stop-signal.ts'
import { count } from '../words.ts'
import {
  type NamedPlace,
  PATH_STYLE,
  passphraseOf,
  REGION,
  type StoreOptions,
  TARGET,
  targetOf,
} from './backup-place.ts'
import { damageJson, printDamage } from './damage-lines.ts'
import { ProblemsFound } from './problems-found.ts'
import { readRate } from './rate.ts'
import { silent, stopWithServer } from './server-child.ts'

interface Options extends StoreOptions {
  readonly keepDaily?: number
  readonly keepWeekly?: number
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

/** `holdfast backup`: exits with 3 when contents were damaged already. */
export function backupCommand(backup: Command, environment: Environment): void {
  backup
    .description('add a point in time to a backup, with or without a running server')
    .argument(...TARGET)
    .option(...REGION)
    .option(...PATH_STYLE)
    .option('--keep-daily <days>', 'keep the newest point of each of so many days', readCount)
    .option('--keep-weekly <weeks>', 'keep the newest point of each of so many weeks', readCount)
    .option('--rate <size>', 'copy at most so many bytes a second (50MB)', readRate)
    .option('--json', 'print {"taken_at","files","contents","bytes","copied_contents","copied_bytes",…}')
    .addOption(new Option('--for-server').hideHelp())
    .action((target: NamedPlace | undefined, options: Options) => run(backup, environment, target, options))
}

/** Throws InvalidArgumentError, which commander shows. */
function readCount(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Allowed is a whole number up to 9999.')
}

/** What the settings keep is for the server: a run by hand drops nothing that it was not told to drop. */
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
  named: NamedPlace | undefined,
  options: Options,
): Promise<void> {
  const config = loadConfig(environment)
  const { forServer = false } = options
  const { backUp } = await import('../../operations/backup/backup.ts')
  const stop = abortedBySignal('stopped; no point was added, and the same command goes on from here')
  const input = forServer ? stopWithServer(stop) : null
  const progress = forServer ? silent : stepProgress(titles, standardError, systemClock)
  const made = await backUp({
    config,
    clock: systemClock,
    random: systemRandom,
    place: targetOf(command, named, options, config),
    passphrase: await passphraseOf(config),
    retention: keepingOf(options, config),
    onlyOwn: forServer,
    rate: options.rate ?? (forServer ? (config.backup.own?.rate ?? null) : null),
    signal: stop.signal,
    onWait: () =>
      process.stderr.write('Another run works on this backup, or was killed just now: waiting.\n'),
    watch: progress,
  }).finally(() => {
    progress.end()
    input?.end()
  })
  if (forServer) return printJson(outcomeOf(made))
  if (options.json) printJson(jsonOf(made))
  else tell(made)
  if (made.damaged.length > 0) throw new ProblemsFound()
}

function outcomeOf({ point, damaged }: BackedUp): Outcome {
  return { takenAt: point.takenAt, files: point.files, bytes: point.bytes, wrong: damaged.length }
}

function jsonOf({ point, copied, dropped, damaged }: BackedUp) {
  return {
    taken_at: new Date(point.takenAt).toISOString(),
    files: point.files,
    contents: point.contents,
    bytes: point.bytes,
    copied_contents: copied.contents,
    copied_bytes: copied.bytes,
    dropped_points: dropped,
    damaged: damageJson(damaged),
  }
}

function tell({ point, copied, dropped, damaged }: BackedUp): void {
  printLines(
    `The point ${new Date(point.takenAt).toISOString()} has ${count(point.files, 'file')} with ${formatSize(point.bytes)}.`,
    `${count(copied.contents, 'content')} with ${formatSize(copied.bytes)} ${copied.contents === 1 ? 'was' : 'were'} new.`,
  )
  if (dropped > 0) printLines(`${count(dropped, 'older point')} ${dropped === 1 ? 'was' : 'were'} dropped.`)
  printDamage(damaged, 'cannot be backed up')
}

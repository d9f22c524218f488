import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { type Config, loadConfig } from '../../config.ts'
import type { BackedUp, BackupStep, Outcome, RetentionPolicy } from '../../contents/backup.ts'
import { systemClock } from '../../domain/clock.ts'
import { formatSize } from '../../domain/sizes.ts'

import { printJson, printLines, printProblem } from '../output.ts'
import { type StepTitle, standardError, stepProgress } from '../step-progress.ts'
import { abortedBySignal } from '../stop-signal.ts'
import { count } from '../words.ts'
import { type NamedPlace, openingOf, PATH_STYLE, REGION, type StoreOptions, TARGET } from './backup-place.ts'
import { damageJson, printDamage } from './damage-lines.ts'
import { ProblemsFound } from './problems-found.ts'
import { readRate } from './rate.ts'
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
    .action((target: NamedPlace | undefined, options: Options) => run(backup, environment, target, options))
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
  named: NamedPlace | undefined,
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

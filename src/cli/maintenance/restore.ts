import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { type Config, loadConfig } from '../../config.ts'
import type { MarkState } from '../../contents/mark-copies.ts'
import type { RelocationStep } from '../../contents/relocation.ts'
import type { FoundBackup, RecoveryPoint, Restored } from '../../contents/restore.ts'
import { systemClock } from '../../domain/clock.ts'
import { formatSize } from '../../domain/sizes.ts'
import type { WrittenPlace } from '../../settings.ts'
import { ProblemsFound } from '../failure.ts'
import { timeOf } from '../options.ts'
import { count, printJson, printLines, printTable } from '../output.ts'
import { bytesPlace, databasePlace } from '../session.ts'
import { type StepTitle, standardError, stepProgress } from '../step-progress.ts'
import { abortedBySignal } from '../stop-signal.ts'
import { openingOf, PATH_STYLE, REGION, type StoreOptions, TARGET } from './backup.ts'
import { damageJson, printDamage } from './damage-lines.ts'

interface Options extends StoreOptions {
  readonly at?: number
  readonly atLeast?: MarkState
  readonly points?: true
  readonly json?: true
}

export const titles = {
  watch: {
    title: 'Looking whether a server runs; where one was killed, this takes half a minute',
    counts: 'nothing',
  },
  bytes: { title: 'Restoring files', counts: 'bytes' },
  rows: { title: 'Restoring rows', counts: 'items' },
  compare: { title: 'Comparing rows', counts: 'items' },
  switch: { title: 'Finishing', counts: 'nothing' },
} as const satisfies Record<RelocationStep, StepTitle>

/** Exits with 3 when the backup lacks contents. */
export function restoreCommand(restore: Command, environment: Environment): void {
  restore
    .description('fill the empty database and store that are configured from a backup')
    .argument(...TARGET)
    .option(
      '--at <time>',
      'the newest point until then, such as 2027-01-31 or 2027-01-31T12:00:00Z',
      readTime,
    )
    .option(
      '--at-least <series/number>',
      'refuse a catalog that is older than this one, which "holdfast backup" has printed, or of another series',
      readState,
    )
    .addOption(new Option('--points', 'list the points of the backup, and restore nothing').conflicts('at'))
    .option(...REGION)
    .option(...PATH_STYLE)
    .option(
      '--json',
      'print {"taken_at","files","contents","bytes","series","number","authenticated","damaged"}, or a list of points',
    )
    .action((target: WrittenPlace | undefined, options: Options) =>
      run(restore, environment, target, options),
    )
}

/** Throws InvalidArgumentError. */
function readState(text: string): MarkState {
  const [, series, number] = /^([0-9a-f]{12})\/(\d{1,15})$/.exec(text) ?? []
  if (series !== undefined && number !== undefined) return { series, number: Number(number) }
  throw new InvalidArgumentError('Allowed is what "holdfast backup" prints, such as 5d0c9f31ab7e/42.')
}

/** A day includes its end, in UTC. Throws InvalidArgumentError. */
function readTime(text: string): number {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text)
  const time = timeOf(isDay ? `${text}T23:59:59.999Z` : text)
  if (time !== null) return time
  throw new InvalidArgumentError(
    'Allowed is a day such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z.',
  )
}

async function run(
  command: Command,
  environment: Environment,
  named: WrittenPlace | undefined,
  options: Options,
): Promise<void> {
  const config = loadConfig(environment)
  const { pointsOf, restore } = await import('../../contents/restore.ts')
  const stop = abortedBySignal('stopped; the same command goes on from here')
  const target = await openingOf(command, named, options, { config, signal: stop.signal })
  const { json = false, atLeast = null } = options
  const onFound = json ? () => {} : tellFound
  if (options.points) {
    tellPoints(await pointsOf({ ...target, atLeast, onFound }), json)
    return
  }
  const progress = stepProgress(titles, standardError, systemClock)
  const at = options.at ?? null
  const restored = await restore({ ...target, config, at, atLeast, onFound, watch: progress }).finally(
    progress.end,
  )
  if (json) {
    const { series, number, isAuthenticated } = restored.found
    const found = { series, number, authenticated: isAuthenticated }
    printJson({ ...pointJson(restored.point), ...found, damaged: damageJson(restored.damaged) })
  } else tell(restored, config)
  if (restored.damaged.length > 0) throw new ProblemsFound()
}

function tellFound({ series, number, points, newest, isAuthenticated }: FoundBackup): void {
  const until = newest === null ? '' : `, the newest of ${new Date(newest).toISOString()}`
  printLines(`The catalog is ${series}/${number} with ${count(points, 'point')}${until}.`)
  printLines(
    isAuthenticated
      ? 'It was written with the passphrase. Whether a newer one was there is told by the number, with --at-least.'
      : 'The backup is not encrypted, so nothing in it is authenticated: whoever can write to its place can have changed all of it.',
  )
}

function pointJson({ takenAt, files, contents, bytes }: RecoveryPoint) {
  return { taken_at: new Date(takenAt).toISOString(), files, contents, bytes }
}

function tellPoints(points: readonly RecoveryPoint[], json: boolean): void {
  if (json) printJson(points.map(pointJson))
  else
    printTable(
      ['TIME', 'FILES', 'SIZE', 'DAMAGED'],
      points.map(({ takenAt, files, bytes, damaged }) => [
        new Date(takenAt).toISOString(),
        String(files),
        formatSize(bytes),
        damaged === 0 ? '' : String(damaged),
      ]),
    )
}

function tell({ point, damaged }: Restored, config: Config): void {
  printLines(
    `${count(point.files, 'file')} with ${formatSize(point.bytes)} ${point.files === 1 ? 'is' : 'are'} back, as of ${new Date(point.takenAt).toISOString()}.`,
    `The rows are in ${databasePlace(config)}, the bytes in ${bytesPlace(config)}. Start the server.`,
  )
  printDamage(damaged, 'is not in the backup as it was uploaded')
}

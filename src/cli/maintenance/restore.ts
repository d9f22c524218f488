import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { type Config, loadConfig } from '../../config.ts'
import { systemClock } from '../../domain/clock.ts'
import { systemRandom } from '../../domain/random.ts'
import { formatSize } from '../../domain/sizes.ts'
import type { RecoveryPoint, Restored } from '../../operations/backup/restore.ts'
import type { RelocationStep } from '../../operations/relocation/relocate.ts'
import { timeOf } from '../options.ts'
import { printJson, printLines, printTable } from '../output.ts'
import { bytesPlace, databasePlace } from '../places.ts'
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

interface Options extends StoreOptions {
  readonly at?: number
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

/** `holdfast restore`: exits with 3 when the backup lacks contents. */
export function restoreCommand(restore: Command, environment: Environment): void {
  restore
    .description('fill the empty database and store that are configured from a backup')
    .argument(...TARGET)
    .option(
      '--at <time>',
      'the newest point until then, such as 2027-01-31 or 2027-01-31T12:00:00Z',
      readTime,
    )
    .addOption(new Option('--points', 'list the points of the backup, and restore nothing').conflicts('at'))
    .option(...REGION)
    .option(...PATH_STYLE)
    .option('--json', 'print {"taken_at","files","contents","bytes","damaged"}, or a list of points')
    .action((target: NamedPlace | undefined, options: Options) => run(restore, environment, target, options))
}

/** A day includes its end, in UTC. Throws InvalidArgumentError, which commander shows. */
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
  named: NamedPlace | undefined,
  options: Options,
): Promise<void> {
  const config = loadConfig(environment)
  const { pointsOf, restore } = await import('../../operations/backup/restore.ts')
  const stop = abortedBySignal('stopped; the same command goes on from here')
  const target = {
    clock: systemClock,
    random: systemRandom,
    place: targetOf(command, named, options, config),
    passphrase: await passphraseOf(config),
    signal: stop.signal,
    onWait: () =>
      process.stderr.write('Another run works on this backup, or was killed just now: waiting.\n'),
  }
  if (options.points) {
    tellPoints(await pointsOf(target), options.json === true)
    return
  }
  const progress = stepProgress(titles, standardError, systemClock)
  const restored = await restore({ ...target, config, at: options.at ?? null, watch: progress }).finally(
    progress.end,
  )
  if (options.json) printJson({ ...pointJson(restored.point), damaged: damageJson(restored.damaged) })
  else tell(restored, config)
  if (restored.damaged.length > 0) throw new ProblemsFound()
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

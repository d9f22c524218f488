import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { loadConfig } from '../../config.ts'
import type { Drilled, Outcome } from '../../contents/drill.ts'
import { systemClock } from '../../domain/clock.ts'
import { systemRandom } from '../../domain/random.ts'
import { formatSize } from '../../domain/sizes.ts'
import type { WrittenPlace } from '../../settings.ts'
import { ProblemsFound } from '../failure.ts'
import { count, printJson, printLines, printProblem } from '../output.ts'
import { standardError, stepProgress } from '../step-progress.ts'
import { abortedBySignal } from '../stop-signal.ts'
import { openingOf, PATH_STYLE, REGION, type StoreOptions, TARGET } from './backup.ts'
import { damageJson, printDamage } from './damage-lines.ts'
import { titles } from './restore.ts'
import { silent, stopWithServer } from './server-child.ts'

interface Options extends StoreOptions {
  readonly sample: number
  readonly scratch?: string
  readonly json?: true
  readonly forServer?: true
}

/** Exits with 3 when the restore failed or files differ. */
export function drillCommand(drill: Command, environment: Environment): void {
  drill
    .description(
      'rehearse a restore: restore the newest point elsewhere, start a server on it, read files back',
    )
    .argument(...TARGET)
    .option('--sample <files>', 'how many files to read back, by chance', readCount, 100)
    .option(
      '--scratch <folder>',
      'a folder with room for all of the backup, in place of HOLDFAST_DRILL_FOLDER; nothing is left in it',
      (path) => resolve(path),
    )
    .option(...REGION)
    .option(...PATH_STYLE)
    .option('--json', 'print {"good","taken_at","files","read_files","read_bytes","wrong","damaged"}')
    .addOption(new Option('--for-server').hideHelp())
    .action((target: WrittenPlace | undefined, options: Options) => run(drill, environment, target, options))
}

/** Throws InvalidArgumentError. */
function readCount(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Allowed is a whole number from 1 to 999999.')
}

async function run(
  command: Command,
  environment: Environment,
  named: WrittenPlace | undefined,
  options: Options,
): Promise<void> {
  const config = loadConfig(environment)
  const { forServer = false } = options
  const { drill } = await import('../../contents/drill.ts')
  const { startHoldfast } = await import('../../app.ts')
  const { createLog } = await import('../../log.ts')
  const stop = abortedBySignal('stopped; nothing is left behind')
  const input = forServer ? stopWithServer(stop) : null
  const progress = forServer ? silent : stepProgress(titles, standardError, systemClock)
  const parts = { clock: systemClock, random: systemRandom }
  const log = createLog('silent', { terminal: false })
  const drilled = await drill({
    ...(await openingOf(command, named, options, { config, signal: stop.signal })),
    config,
    watch: progress,
    scratch: options.scratch ?? config.backup.own?.drillFolder ?? tmpdir(),
    sample: options.sample,
    start: (its) => startHoldfast({ ...parts, config: its, settings: [], log }),
  }).finally(() => {
    progress.end()
    input?.end()
  })
  if (forServer) return printJson(outcomeOf(drilled))
  const isGood = drilled.wrong.length === 0 && drilled.damaged.length === 0
  if (options.json) printJson({ good: isGood, ...jsonOf(drilled) })
  else tell(drilled, isGood)
  if (!isGood) throw new ProblemsFound()
}

function outcomeOf({ point, files, bytes, wrong, damaged }: Drilled): Outcome {
  return { takenAt: point.takenAt, files, bytes, wrong: wrong.length + damaged.length }
}

function jsonOf({ point, files, bytes, wrong, damaged }: Drilled) {
  return {
    taken_at: new Date(point.takenAt).toISOString(),
    files: point.files,
    read_files: files,
    read_bytes: bytes,
    wrong,
    damaged: damageJson(damaged),
  }
}

function tell({ point, files, bytes, wrong, damaged }: Drilled, isGood: boolean): void {
  const what = `the point ${new Date(point.takenAt).toISOString()} with ${count(point.files, 'file')}`
  if (isGood) {
    printLines(
      `Yes: ${what} was restored, a server started on it, and ${count(files, 'file')} with ${formatSize(bytes)} came back as ${files === 1 ? 'it was' : 'they were'} uploaded.`,
    )
    return
  }
  printLines(`No: ${what} was restored, but not all of it is good.`)
  for (const { slug, name, owner, reason } of wrong) printProblem(`${slug}  ${name}, of ${owner}: ${reason}`)
  printDamage(damaged, 'is not in the backup as it was uploaded')
}

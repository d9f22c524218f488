import type { Command } from 'commander'
import type { Environment } from '../config/environment.ts'
import { type Config, loadConfig } from '../config.ts'
import { systemClock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { systemRandom } from '../domain/random.ts'
import { formatSize } from '../domain/sizes.ts'
import { count, formatTime, printLines, printProblem } from './output.ts'
import { databasePlace } from './session.ts'

/** Runs, or checks for, the migrations that every start performs. */
export function migrateCommand(migrate: Command, environment: Environment): void {
  migrate
    .description("bring the database to this program's version; a server's start does so too")
    .option('--check', 'change nothing; exit 1 when something is to be done, and tell how long it would take')
    .option('--no-copy', 'with --check: do not measure that on a copy of the database')
    .action((options: Options) => run(environment, options))
}

interface Options {
  readonly check?: true
  readonly copy: boolean
}

const surroundings = { clock: systemClock, random: systemRandom }

async function run(environment: Environment, { check, copy }: Options): Promise<void> {
  const config = loadConfig(environment)
  const { applyMigrations, isNew, pendingMigrations } = await import('../operations/administration.ts')
  const parts = { config, ...surroundings }
  const missing = await pendingMigrations(parts)
  const place = databasePlace(config)
  if (missing === 0) return printLines(`The database in ${place} is up to date.`)
  const steps = count(missing, 'migration')
  if (check) {
    const time = copy && !isNew(missing) ? ` ${await timeOnCopy(config)}` : ''
    throw new Refusal(
      'PRECONDITION_FAILED',
      `The database in ${place} lacks ${steps}; "holdfast migrate" applies them.${time}`,
    )
  }
  printLines(`The database in ${place} lacks ${steps}; applying them. On a large one this takes a while.`)
  await applyMigrations(parts)
  printLines(`The database in ${place} is up to date: ${steps} applied.`)
}

async function timeOnCopy(config: Config): Promise<string> {
  const { measureMigrations } = await import('../operations/migration-time.ts')
  const found = await measureMigrations({ config, ...surroundings }, (bytes) =>
    printProblem(`Trying them on a copy of the database (${formatSize(bytes)}); --no-copy leaves that out.`),
  )
  switch (found.kind) {
    case 'measured':
      return `On a copy that took ${formatTime(found.migrating)}, and copying ${formatTime(found.copying)}; on a busy server it takes longer.`
    case 'no room':
      return `How long that takes was not measured: a copy needs ${formatSize(found.needed)}, and ${found.folder} has ${formatSize(found.free)} free.`
  }
}

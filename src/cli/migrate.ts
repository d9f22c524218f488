import type { Command } from 'commander'
import type { Environment } from '../config/environment.ts'
import { loadConfig } from '../config.ts'
import { systemClock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { systemRandom } from '../domain/random.ts'
import { printLines } from './output.ts'
import { databasePlace } from './places.ts'

/** `holdfast migrate`: runs, or checks for, the migrations that every start performs, ahead of a start. */
export function migrateCommand(migrate: Command, environment: Environment): void {
  migrate
    .description("bring the database to this program's version; a server's start does so too")
    .option('--check', 'change nothing; exit 1 when something is to be done')
    .action(({ check }: { readonly check?: true }) => run(environment, check === true))
}

async function run(environment: Environment, check: boolean): Promise<void> {
  const config = loadConfig(environment)
  const { applyMigrations, pendingMigrations: missingMigrations } = await import(
    '../operations/administration.ts'
  )
  const parts = { config, clock: systemClock, random: systemRandom }
  const missing = await missingMigrations(parts)
  const place = databasePlace(config)
  if (missing === 0) return printLines(`The database in ${place} is up to date.`)
  const steps = missing === 1 ? '1 migration' : `${missing} migrations`
  if (check)
    throw new Refusal(
      'PRECONDITION_FAILED',
      `The database in ${place} lacks ${steps}; "holdfast migrate" applies them.`,
    )
  printLines(`The database in ${place} lacks ${steps}; applying them. On a large one this takes a while.`)
  await applyMigrations(parts)
  printLines(`The database in ${place} is up to date: ${steps} applied.`)
}

import type { Command } from 'commander'
import type { Environment } from '../config/environment.ts'
import { loadConfig } from '../config.ts'
import { systemClock } from '../domain/clock.ts'
import { systemRandom } from '../domain/random.ts'
import { printLines } from './output.ts'
import { databasePlace } from './session.ts'

export function takeOverCommand(takeOver: Command, environment: Environment): void {
  takeOver
    .description('let a restored database remove bytes from its store again; no other may use that store')
    .action(() => run(environment))
}

async function run(environment: Environment): Promise<void> {
  const config = loadConfig(environment)
  const { takeOverStore } = await import('../operations/takeover.ts')
  const taken = await takeOverStore({ config, clock: systemClock, random: systemRandom })
  const place = databasePlace(config)
  if (taken === 'nothing')
    return printLines(`The database in ${place} counts for its store already; there is nothing to do.`)
  if (taken === 'moved') {
    return printLines(
      `The database in ${place} may be served again, as it was when everything was moved away. Do not start a server in the other place any more.`,
    )
  }
  printLines(
    `The database in ${place} counts for its store from now on, and its server removes bytes again.`,
    'Any other database of this store removes none any more.',
  )
}

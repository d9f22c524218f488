import type { Administration } from '../administration.ts'
import { type Config, type Environment, loadConfig } from '../config.ts'
import { systemClock } from '../domain/clock.ts'
import { systemRandom } from '../domain/random.ts'

/** Opens the data that the environment names for one command, and closes it whatever happens. */
export async function withAdministration(
  environment: Environment,
  command: (administration: Administration, config: Config) => Promise<void>,
): Promise<void> {
  const config = loadConfig(environment)
  // Loaded only now: help and wrong use need none of it.
  const { openAdministration } = await import('../administration.ts')
  const administration = await openAdministration({ config, clock: systemClock, random: systemRandom })
  try {
    await command(administration, config)
  } finally {
    await administration.close()
  }
}

import type { Administration } from '../administration.ts'
import { type Config, type Environment, loadConfig } from '../config.ts'
import { systemClock } from '../domain/clock.ts'
import { systemRandom } from '../domain/random.ts'

/**
 * Opens the data that the environment names for one command, and closes it whatever happens. Where there is none,
 * only a command that `mayBegin` makes some.
 */
export async function withAdministration(
  environment: Environment,
  command: (administration: Administration, config: Config) => Promise<void>,
  options: { readonly mayBegin?: boolean } = {},
): Promise<void> {
  const config = loadConfig(environment)
  // Loaded only now: help and wrong use need none of it.
  const { openAdministration } = await import('../administration.ts')
  const parts = { config, clock: systemClock, random: systemRandom }
  const administration = await openAdministration(parts, options)
  try {
    await command(administration, config)
  } finally {
    await administration.close()
  }
}

import type { Environment } from '../config/environment.ts'
import { type Config, loadConfig } from '../config.ts'
import { systemClock } from '../domain/clock.ts'
import { systemRandom } from '../domain/random.ts'
import type { Administration } from '../operations/administration.ts'

/** Opens the configured data for one command, and always closes it. Only `mayBegin` creates missing data. */
export async function withAdministration(
  environment: Environment,
  command: (administration: Administration, config: Config) => Promise<void>,
  options: { readonly mayBegin?: boolean } = {},
): Promise<void> {
  const config = loadConfig(environment)
  // Help and usage errors do not need it.
  const { openAdministration } = await import('../operations/administration.ts')
  const parts = { config, clock: systemClock, random: systemRandom }
  const administration = await openAdministration(parts, options)
  try {
    await command(administration, config)
  } finally {
    await administration.close()
  }
}

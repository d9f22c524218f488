import type { Holdfast } from '../app.ts'
import { type Config, type Environment, loadConfig, settingsInForce } from '../config.ts'
import { systemClock } from '../domain/clock.ts'
import { systemRandom } from '../domain/random.ts'
import { createLog, type Log } from '../log.ts'
import { printLines } from './output.ts'
import { ownCommand } from './own-command.ts'
import { bytesPlace, databasePlace } from './places.ts'
import { stopSignal } from './stop-signal.ts'

/** Runs a server until a signal stops it, then ends the process. Throws when the server cannot start. */
export async function serve(environment: Environment, version: string): Promise<never> {
  const config = loadConfig(environment)
  const terminal = process.stdout.isTTY
  const log = createLog(config.logLevel, { terminal })
  const { startHoldfast } = await import('../app.ts')
  const settings = settingsInForce(environment)
  const holdfast = await startHoldfast({ config, settings, clock: systemClock, random: systemRandom, log })
  reportUnexpected(log)
  const stopped = stopSignal()
  const command = ownCommand({
    launchedAs: environment.LAUNCHED_AS,
    invocationId: environment.INVOCATION_ID,
    terminal,
    folder: process.cwd(),
  })
  announce(holdfast, { config, log, terminal, version, command })
  log.info({ signal: await stopped }, 'stopping: running uploads may take up to 30 s')
  await holdfast.stop()
  log.info({}, 'stopped')
  // Connections that clients keep open must not keep the process.
  process.exit(0)
}

interface Announcement {
  readonly config: Config
  readonly log: Log
  readonly terminal: boolean
  readonly version: string
  /** What runs another command of this installation. */
  readonly command: string
}

function announce(
  { url, welcome }: Holdfast,
  { config, log, terminal, version, command }: Announcement,
): void {
  const addAccount = `${command} account add <username>`
  const administrator = welcome === null ? null : (config.publicUrl ?? url) + welcome.path
  if (terminal) {
    printLines(
      `Holdfast ${version} listens at ${url}`,
      ...(config.publicUrl === null ? [] : [`Links begin with   ${config.publicUrl}`]),
      ...placeLines(config),
      ...(administrator === null ? [] : [`First administrator ${administrator}`]),
      `Make an account    ${addAccount}`,
      'Stop               Ctrl+C',
    )
  } else {
    log.info(
      {
        url,
        data: databasePlace(config),
        bytes: bytesPlace(config),
        version,
        make_an_account: addAccount,
        // Worth nothing any more as soon as somebody has used it.
        ...(administrator === null ? {} : { first_administrator: administrator }),
      },
      'listening',
    )
  }
  if (config.publicUrl === null && ['0.0.0.0', '::'].includes(config.host)) {
    log.warn({}, 'HOLDFAST_PUBLIC_URL is not set: links may not work from other machines')
  }
}

function placeLines(config: Config): string[] {
  const [database, bytes] = [databasePlace(config), bytesPlace(config)]
  if (database === bytes) return [`Data folder        ${database}`]
  return [`Database           ${database}`, `Bytes              ${bytes}`]
}

/** One request's stray rejection must not end everybody's; after an exception nobody caught, nothing is certain. */
function reportUnexpected(log: Log): void {
  process.on('unhandledRejection', (err) =>
    log.error({ err }, 'a promise was rejected and nobody waited for it'),
  )
  process.on('uncaughtException', (err) => {
    log.error({ err }, 'an exception was not caught; the server ends')
    process.exit(1)
  })
}

import type { Holdfast } from '../app.ts'
import type { Environment } from '../config/environment.ts'
import { type Config, loadConfig, openToOthers, settingsInForce } from '../config.ts'
import { systemClock } from '../domain/clock.ts'
import { systemRandom } from '../domain/random.ts'
import { createLog, type Log } from '../log.ts'
import { settings } from '../settings.ts'
import { printLines } from './output.ts'
import { bytesPlace, databasePlace } from './session.ts'
import { isService, ownCommand, thisProcess } from './start-failures.ts'
import { launcherGone, stopSignal } from './stop-signal.ts'

/** Runs until a signal or the end of its launcher, then ends the process. Throws when the server cannot start. */
export async function serve(environment: Environment, version: string): Promise<never> {
  const config = loadConfig(environment)
  const terminal = process.stdout.isTTY
  const log = createLog(config.logLevel, { terminal })
  const { startHoldfast } = await import('../app.ts')
  const settings = settingsInForce(environment)
  const holdfast = await startHoldfast({ config, settings, clock: systemClock, random: systemRandom, log })
  reportUnexpected(log)
  for (const file of openToOthers(config.secretFiles)) {
    log.warn({ ...file }, `everybody on this machine can read a secret of this server; chmod o= ${file.path}`)
  }
  const stopped = Promise.race([stopSignal(), launcherGone(environment.LAUNCHER_PIPE)])
  const command = ownCommand({
    launchedAs: environment.LAUNCHED_AS,
    isService: isService(thisProcess(environment)),
    folder: process.cwd(),
  })
  announce(holdfast, { config, log, terminal, version, command })
  const signal = await stopped
  log.info({ signal }, `stopping: running uploads may take up to ${config.shutdownGrace} s`)
  await holdfast.stop()
  log.info({}, 'stopped')
  // Keep-alive connections would keep the process running.
  process.exit(0)
}

interface Announcement {
  readonly config: Config
  readonly log: Log
  readonly terminal: boolean
  readonly version: string
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
        access_log: config.logs?.folder ?? `off (${settings.logDir.variable})`,
        version,
        make_an_account: addAccount,
        // May be logged: the link is worthless once used.
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

/** An unhandled rejection concerns one request; after an uncaught exception the state is unknown. */
function reportUnexpected(log: Log): void {
  process.on('unhandledRejection', (err) => log.error({ err }, 'a promise rejection was not handled'))
  process.on('uncaughtException', (err) => {
    log.error({ err }, 'an exception was not caught; the server exits')
    process.exit(1)
  })
}

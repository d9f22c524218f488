import type { Command } from 'commander'
import type { Environment } from '../config/environment.ts'
import { loadConfig } from '../config.ts'
import { systemClock } from '../domain/clock.ts'
import { systemRandom } from '../domain/random.ts'
import { printLines } from './output.ts'

interface RotateOptions {
  readonly formerFile?: string
  readonly dropCodes?: true
}

export function secretCommand(secret: Command, environment: Environment): void {
  secret.description('manage the secret that the server signs and encrypts with')
  secret
    .command('rotate')
    .description(
      'change to the secret in HOLDFAST_SECRET(_FILE), or to a new one, while the server is stopped',
    )
    .option('--former-file <path>', 'the former secret, if it was kept outside of the database')
    .option('--drop-codes', 'if the former secret is lost: turn off the codes of authenticator apps')
    .action((options: RotateOptions) => rotate(environment, options))
}

async function rotate(environment: Environment, { formerFile, dropCodes }: RotateOptions): Promise<void> {
  const config = loadConfig(environment)
  const { rotateSecretsOf } = await import('../operations/secrets.ts')
  const parts = { config, clock: systemClock, random: systemRandom }
  const options = { formerFile: formerFile ?? null, mayDropCodes: dropCodes === true }
  const { withoutCodes } = await rotateSecretsOf(parts, options)
  printLines(
    config.secret === null
      ? 'A new secret is in the database.'
      : 'The secret in the settings is in use, and the database holds none any more.',
    'Everybody is signed out. Signed addresses, unlocked folders, receipts of guests and the links in mails that end',
    'warnings are worth nothing any more. Passwords, passkeys, API keys, files and their links are as they were.',
    ...(withoutCodes === 0
      ? []
      : [`Codes of an authenticator app are turned off for ${withoutCodes} accounts.`]),
  )
}

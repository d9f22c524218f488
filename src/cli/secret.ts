import type { Command } from 'commander'
import { type Environment, loadConfig } from '../config.ts'
import { systemClock } from '../domain/clock.ts'
import { systemRandom } from '../domain/random.ts'
import { printLines } from './output.ts'

interface RotateOptions {
  readonly formerFile?: string
  readonly dropCodes?: true
}

/** `holdfast secret …`: what the server signs and encrypts with. */
export function secretCommand(secret: Command, environment: Environment): void {
  secret.description('change what the server signs and encrypts with')
  secret
    .command('rotate')
    .description(
      'go over to the secret in HOLDFAST_SECRET(_FILE), or to a new one, while the server is stopped',
    )
    .option('--former-file <path>', 'the secret until now, where it was kept outside of the database')
    .option('--drop-codes', 'without it: turn off the codes of authenticator apps')
    .action((options: RotateOptions) => rotate(environment, options))
}

async function rotate(environment: Environment, { formerFile, dropCodes }: RotateOptions): Promise<void> {
  const config = loadConfig(environment)
  const { rotateSecretsOf } = await import('../secret-rotation.ts')
  const parts = { config, clock: systemClock, random: systemRandom }
  const options = { formerFile: formerFile ?? null, mayDropCodes: dropCodes === true }
  const { withoutCodes } = await rotateSecretsOf(parts, options)
  printLines(
    config.secret === null
      ? 'A new secret lies in the database.'
      : 'The secret of the settings is in force, and none lies in the database any more.',
    'Everybody is signed out. Signed addresses, unlocked folders, receipts of guests and the links in mails that end',
    'warnings are worth nothing any more. Passwords, passkeys, API keys, files and their links are as they were.',
    ...(withoutCodes === 0
      ? []
      : [`Codes of an authenticator app are turned off for ${withoutCodes} accounts.`]),
  )
}

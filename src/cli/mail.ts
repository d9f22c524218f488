import type { Command } from 'commander'
import type { Environment } from '../config/environment.ts'
import { loadConfig } from '../config.ts'
import { Refusal } from '../domain/errors.ts'
import { parseMailAddress } from '../domain/mail-address.ts'
import { settings } from '../settings.ts'
import { printLines } from './output.ts'

const MAY_TAKE = 60_000

export function mailCommand(mail: Command, environment: Environment): void {
  mail.description('check that mail can be sent')
  mail
    .command('test')
    .description('send a test message through the SMTP server of the settings, and say what it answers')
    .argument('<address>', 'who gets it')
    .action((address: string) => test(environment, address))
}

async function test(environment: Environment, address: string): Promise<void> {
  const { mail, publicUrl } = loadConfig(environment)
  if (mail === null) {
    throw new Refusal(
      'PRECONDITION_FAILED',
      `no mail server is configured; set ${settings.smtpUrl.variable}.`,
    )
  }
  const to = parseMailAddress(address)
  if (to === null) throw new Refusal('INVALID_REQUEST', `"${address}" is not an email address.`)
  const { sendTestMail } = await import('../app.ts')
  const server = `${mail.host}:${mail.port}`
  try {
    await sendTestMail(mail, publicUrl, to, AbortSignal.timeout(MAY_TAKE))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Refusal('PRECONDITION_FAILED', `${server} did not take the message: ${reason}`)
  }
  printLines(`${server} took the message for ${address}. Look for it there, also among spam.`)
}

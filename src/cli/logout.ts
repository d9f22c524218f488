import type { Command } from 'commander'
import { ClientError } from '../client/failure.ts'
import { parseServer } from '../client/server-address.ts'
import type { Environment } from '../config/environment.ts'
import { printLines } from './output.ts'
import { asClient, openLogins } from './session.ts'

/** The key remains valid. */
export function logoutCommand(logout: Command, environment: Environment): void {
  logout
    .description('forget the API key of a server; to revoke it, use the site or "holdfast key revoke"')
    .argument('[server]', 'its address; without one, the server of the last login')
    .action((server: string | undefined) => asClient(() => run(environment, server)))
}

async function run(environment: Environment, text: string | undefined): Promise<void> {
  const logins = openLogins(environment)
  const url = text === undefined ? await logins.current() : parseServer(text)
  if (url === null || !(await logins.forget(url))) {
    throw new ClientError(
      url === null ? 'you are not logged in anywhere.' : `you are not logged in to ${url}.`,
    )
  }
  printLines(`Logged out of ${url}.`)
}

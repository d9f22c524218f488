import type { Command } from 'commander'
import type { Environment } from '../config.ts'
import { withAdministration } from './administration.ts'
import { printJson, printLines } from './output.ts'
import { linkAddress } from './places.ts'

/** `holdfast admin …`: works beside a running server on the same data. */
export function adminCommand(admin: Command, environment: Environment): void {
  admin.description('say who administers the server on the site')
  admin
    .command('add')
    .description(
      'make an account an administrator, or a new one, and print a one-time link to set its password',
    )
    .argument('<username>', '3 to 32 of a-z 0-9 . _ -')
    .option('--json', 'print {"username","url"}')
    .action((username: string, { json }: { json?: true }) => add(environment, username, json === true))
}

function add(environment: Environment, username: string, json: boolean): Promise<void> {
  return withAdministration(environment, async ({ signUp, oneTimeLinks }, config) => {
    const isNew = await signUp.makeAdmin(username)
    const url = isNew ? linkAddress(config, await oneTimeLinks.password(username)) : null
    if (json) return printJson({ username: username.toLowerCase(), url })
    printLines(`${username.toLowerCase()} is an administrator.`)
    if (url !== null)
      printLines('', 'Set the password here; the link works once, for 7 days:', '', `  ${url}`)
  })
}

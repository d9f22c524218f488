import type { Command } from 'commander'
import type { Environment } from '../config/environment.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import { timestamp } from '../domain/clock.ts'
import { filesCommand } from './admin/files.ts'
import { noticeCommand } from './admin/notice.ts'
import {
  auditCommand,
  jobsCommand,
  nodesCommand,
  settingsCommand,
  statisticsCommand,
} from './admin/server-state.ts'
import { refusedCommands, takeDownCommand } from './admin/take-downs.ts'
import { withAdministration } from './administration.ts'
import { printJson, printLines } from './output.ts'
import { linkAddress } from './session.ts'

export function adminCommand(admin: Command, environment: Environment): void {
  admin.description('administer the server')
  admin
    .command('add')
    .description(
      'make an account an administrator, adding it if there is none, and print a one-time link to set its password',
    )
    .argument('<username>', '3 to 32 of a-z 0-9 . _ -')
    .option('--json', 'print {"username","url"}')
    .action((username: string, { json }: { json?: true }) => add(environment, username, json === true))
  admin
    .command('withdraw')
    .description('take the administrator role from an account')
    .argument('<username>')
    .action((username: string) => withdraw(environment, username))
  inviteCommand(admin.command('invite'), environment)
  takeDownCommand(admin.command('take-down'), environment)
  refusedCommands(admin, environment)
  filesCommand(admin.command('files'), environment)
  noticeCommand(admin.command('notice'), environment)
  jobsCommand(admin.command('jobs'), environment)
  nodesCommand(admin.command('nodes'), environment)
  settingsCommand(admin.command('settings'), environment)
  statisticsCommand(admin.command('statistics'), environment)
  auditCommand(admin.command('audit'), environment)
}

function add(environment: Environment, username: string, json: boolean): Promise<void> {
  return withAdministration(
    environment,
    async ({ administratorCreation, oneTimeLinks }, config) => {
      const isNew = await administratorCreation.make(username)
      const url = isNew ? linkAddress(config, await oneTimeLinks.password(username)) : null
      if (json) return printJson({ username: username.toLowerCase(), url })
      printLines(`${username.toLowerCase()} is an administrator.`)
      if (url !== null)
        printLines('', 'Set the password here; the link works once, for 7 days:', '', `  ${url}`)
    },
    { mayBegin: true },
  )
}

function withdraw(environment: Environment, username: string): Promise<void> {
  return withAdministration(environment, async ({ accountAdministration }) => {
    const id = await accountAdministration.named(username)
    await accountAdministration.change(COMMAND_LINE, id, { isAdmin: false })
    printLines(`${username.toLowerCase()} is no administrator.`)
  })
}

function inviteCommand(command: Command, environment: Environment): void {
  command
    .description('print a one-time link by which somebody can make one account')
    .option('--json', 'print {"url","expires_at"}')
    .action(({ json }: { json?: true }) => invite(environment, json === true))
}

function invite(environment: Environment, json: boolean): Promise<void> {
  return withAdministration(environment, async ({ oneTimeLinks }, config) => {
    const link = await oneTimeLinks.invitation(COMMAND_LINE)
    const url = linkAddress(config, link)
    const expiresAt = timestamp(link.expiresAt)
    if (json) return printJson({ url, expires_at: expiresAt })
    printLines(`Somebody can make one account here; the link works once, until ${expiresAt}:`, '', `  ${url}`)
  })
}

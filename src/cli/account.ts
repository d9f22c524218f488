import type { Command } from 'commander'
import type { Environment } from '../config.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import { timestamp } from '../domain/clock.ts'
import { formatSize } from '../domain/sizes.ts'
import { withAdministration } from './administration.ts'
import { printJson, printLines, printTable } from './output.ts'
import { databasePlace, linkAddress } from './places.ts'

interface Format {
  readonly json?: true
}

/** `holdfast account …`: works beside a running server on the same data. */
export function accountCommand(account: Command, environment: Environment): void {
  account.description('add, list and disable accounts')
  account
    .command('add')
    .description('add an account and print its first API key, which is shown only once')
    .argument('<username>', '3 to 32 of a-z 0-9 . _ -')
    .option('--json', 'print {"id","username","api_key"}')
    .action((username: string, { json }: Format) => add(environment, username, json === true))
  account
    .command('list')
    .description('list the accounts')
    .option('--json', 'print a JSON array')
    .action(({ json }: Format) => list(environment, json === true))
  account
    .command('link')
    .description('print a one-time link by which somebody sets the password of an account')
    .argument('<username>')
    .option('--json', 'print {"username","url","expires_at"}')
    .action((username: string, { json }: Format) => link(environment, username, json === true))
  account
    .command('disable')
    .description('refuse every request of an account; its files stay')
    .argument('<username>')
    .action((username: string) => disable(environment, username))
}

function add(environment: Environment, username: string, json: boolean): Promise<void> {
  return withAdministration(
    environment,
    async ({ accounts }, config) => {
      const account = await accounts.add(username)
      if (json) return printJson({ id: account.id, username: account.username, api_key: account.apiKey })
      printLines(
        `Account ${account.username} (number ${account.id}) is in ${databasePlace(config)}.`,
        'Its API key, which is shown only this once:',
        '',
        `  ${account.apiKey}`,
      )
    },
    { mayBegin: true },
  )
}

function list(environment: Environment, json: boolean): Promise<void> {
  return withAdministration(environment, async ({ accounts }, config) => {
    const all = await accounts.list()
    if (json) {
      return printJson(
        all.map((account) => ({
          id: account.id,
          username: account.username,
          created_at: timestamp(account.createdAt),
          disabled_at: account.disabledAt === null ? null : timestamp(account.disabledAt),
          storage_used: account.storageUsed,
          files_count: account.filesCount,
        })),
      )
    }
    if (all.length === 0) {
      return printLines(`No accounts in ${databasePlace(config)}. Add one: holdfast account add <username>`)
    }
    printTable(
      ['NUMBER', 'USERNAME', 'FILES', 'STORAGE', 'SINCE', 'STATE'],
      all.map((account) => [
        String(account.id),
        account.username,
        String(account.filesCount),
        formatSize(account.storageUsed),
        timestamp(account.createdAt),
        account.disabledAt === null ? 'active' : `disabled ${timestamp(account.disabledAt)}`,
      ]),
    )
  })
}

function link(environment: Environment, username: string, json: boolean): Promise<void> {
  return withAdministration(environment, async ({ oneTimeLinks }, config) => {
    const made = await oneTimeLinks.password(username)
    const url = linkAddress(config, made)
    const expiresAt = timestamp(made.expiresAt)
    if (json) return printJson({ username: username.toLowerCase(), url, expires_at: expiresAt })
    printLines(
      `Whoever opens this sets the password of ${username.toLowerCase()}; it works once, until ${expiresAt}:`,
      '',
      `  ${url}`,
    )
  })
}

function disable(environment: Environment, username: string): Promise<void> {
  return withAdministration(environment, async ({ accountAdministration }) => {
    const id = await accountAdministration.named(username)
    await accountAdministration.change(COMMAND_LINE, id, { disabled: true })
    printLines(`Account ${username} is disabled.`)
  })
}

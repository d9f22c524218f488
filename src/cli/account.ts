import { type Command, Option } from 'commander'
import type { Environment } from '../config/environment.ts'
import { optionalTime, timestamp } from '../domain/clock.ts'
import { formatSize } from '../domain/sizes.ts'
import { changeCommands } from './admin/accounts.ts'
import { withAdministration } from './administration.ts'
import { printJson, printLines, printTable } from './output.ts'
import { databasePlace, linkAddress } from './places.ts'

interface Format {
  readonly json?: true
}

interface ListOptions extends Format {
  readonly search: string
  readonly state: 'all' | 'active' | 'disabled'
}

/** `holdfast account …`: may be used while a server runs on the same data. */
export function accountCommand(account: Command, environment: Environment): void {
  account.description('add, list, change and remove accounts')
  account
    .command('add')
    .description('add an account and print its first API key, which is shown only once')
    .argument('<username>', '3 to 32 of a-z 0-9 . _ -')
    .option('--json', 'print {"id","username","api_key"}')
    .action((username: string, { json }: Format) => add(environment, username, json === true))
  account
    .command('list')
    .description('list the accounts')
    .option('--search <text>', 'only accounts whose name contains this', '')
    .addOption(
      new Option('--state <state>', 'only these').choices(['all', 'active', 'disabled']).default('all'),
    )
    .option('--json', 'print a JSON array')
    .action((options: ListOptions) => list(environment, options))
  account
    .command('link')
    .description('print a one-time link by which somebody sets the password of an account')
    .argument('<username>')
    .option('--json', 'print {"username","url","expires_at"}')
    .action((username: string, { json }: Format) => link(environment, username, json === true))
  changeCommands(account, environment)
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

function list(environment: Environment, { search, state, json }: ListOptions): Promise<void> {
  return withAdministration(environment, async ({ accounts }, config) => {
    const everybody = await accounts.list()
    const all = everybody.filter(({ username, disabledAt }) => {
      const isInState = state === 'all' || (state === 'disabled') === (disabledAt !== null)
      return isInState && username.includes(search.toLowerCase())
    })
    if (json) {
      return printJson(
        all.map((account) => ({
          id: account.id,
          username: account.username,
          created_at: timestamp(account.createdAt),
          disabled_at: optionalTime(account.disabledAt),
          storage_used: account.storageUsed,
          files_count: account.filesCount,
        })),
      )
    }
    if (everybody.length === 0) {
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

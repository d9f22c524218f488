import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Environment } from '../config/environment.ts'
import { ACCOUNT_STATES, type AccountState, MOST_INACTIVE_DAYS } from '../domain/account.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import { optionalTime, timestamp } from '../domain/clock.ts'
import { wholeNumber } from '../domain/ids.ts'
import { formatSize, parseSize } from '../domain/sizes.ts'
import { withAdministration } from './administration.ts'
import { printJson, printLines, printTable } from './output.ts'
import { databasePlace, linkAddress } from './session.ts'

interface Format {
  readonly json?: true
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
    .description('list the accounts, the oldest first')
    .option('--search <text>', 'only accounts whose name contains this', '')
    .addOption(new Option('--state <state>', 'only these').choices([...ACCOUNT_STATES]).default('all'))
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

/** Commands that change an existing account. */
function changeCommands(accounts: Command, environment: Environment): void {
  accounts
    .command('quota')
    .description('set how much an account may store')
    .argument('<username>')
    .argument('<size>', 'such as 50GB, or "default" for the limit in the settings', readQuota)
    .action((username: string, quota: Quota) =>
      change(environment, username, { quota: quota.bytes }, `The quota of ${username} is set.`),
    )
  accounts
    .command('inactive-days')
    .description('set after how many days without a view or a download files of an account are deleted')
    .argument('<username>')
    .argument('<days>', 'a number, "never", or "default" for the days in the settings', readInactiveDays)
    .action((username: string, { days }: InactiveDays) =>
      change(
        environment,
        username,
        { inactiveDays: days },
        `The days of ${username} are set, for the files that are there as well.`,
      ),
    )
  accounts
    .command('disable')
    .description('refuse every request of an account; its files stay')
    .argument('<username>')
    .action((username: string) =>
      change(environment, username, { disabled: true }, `Account ${username} is disabled.`),
    )
  accounts
    .command('enable')
    .description('allow the requests of a disabled account again')
    .argument('<username>')
    .action((username: string) =>
      change(environment, username, { disabled: false }, `Account ${username} is enabled.`),
    )
  accounts
    .command('reset')
    .description(
      'remove the password of an account, end its sessions, and print a one-time link to set a new one',
    )
    .argument('<username>')
    .option('--second-factor', 'turn off its codes and passkeys as well')
    .option('--mail-address', 'remove its mail address as well')
    .option('--json', 'print {"username","url","expires_at"}')
    .action((username: string, options: ResetOptions) => reset(environment, username, options))
  accounts
    .command('remove')
    .description('delete an account with every file in it, for good')
    .argument('<username>')
    .requiredOption('--confirm <username>', 'the name once more, to be sure')
    .action((username: string, { confirm }: { confirm: string }) => remove(environment, username, confirm))
}

interface ListOptions extends Format {
  readonly search: string
  readonly state: AccountState
}

interface ResetOptions extends Format {
  readonly secondFactor?: true
  readonly mailAddress?: true
}

/** `bytes` null: the limit from the settings. */
interface Quota {
  readonly bytes: number | null
}

/** Parses a quota. Throws InvalidArgumentError, which commander shows. */
function readQuota(text: string): Quota {
  if (text === 'default') return { bytes: null }
  const bytes = parseSize(text)
  if (bytes === null) throw new InvalidArgumentError('Allowed is a size such as 50GB, or "default".')
  return { bytes }
}

/** `days` null: those of the settings. */
interface InactiveDays {
  readonly days: number | null
}

/** Throws InvalidArgumentError, which commander shows. */
function readInactiveDays(text: string): InactiveDays {
  if (text === 'default') return { days: null }
  const days = text === 'never' ? 0 : wholeNumber(text)
  if (days === null || days > MOST_INACTIVE_DAYS) {
    throw new InvalidArgumentError(
      `Allowed is a whole number of days to ${MOST_INACTIVE_DAYS}, "never", or "default".`,
    )
  }
  return { days }
}

/** Page size that returns all rows at once. */
const ALL = 1_000_000

function list(environment: Environment, { search, state, json }: ListOptions): Promise<void> {
  return withAdministration(environment, async ({ accountAdministration }, config) => {
    const { accounts } = await accountAdministration.list({
      search: search.toLowerCase(),
      state,
      sort: 'created_at',
      order: 'asc',
      offset: 0,
      limit: ALL,
    })
    if (accounts.length === 0 && search === '' && state === 'all' && !json) {
      return printLines(`No accounts in ${databasePlace(config)}. Add one: holdfast account add <username>`)
    }
    const limit = (account: { quota: number | null }) => account.quota ?? config.storageLimit
    if (json) {
      return printJson(
        accounts.map((account) => ({
          id: account.id,
          username: account.username,
          display_name: account.displayName,
          created_at: timestamp(account.createdAt),
          disabled_at: optionalTime(account.disabledAt),
          is_admin: account.isAdmin,
          storage_used: account.storageUsed,
          storage_limit: limit(account),
          quota: account.quota,
          inactive_days: account.inactiveDays,
          files_count: account.filesCount,
        })),
      )
    }
    printTable(
      ['NUMBER', 'USERNAME', 'FILES', 'STORAGE', 'OF', 'SINCE', 'STATE'],
      accounts.map((account) => [
        String(account.id),
        account.username,
        String(account.filesCount),
        formatSize(account.storageUsed),
        formatSize(limit(account)),
        timestamp(account.createdAt),
        account.disabledAt === null
          ? account.isAdmin
            ? 'administrator'
            : 'active'
          : `disabled ${timestamp(account.disabledAt)}`,
      ]),
    )
  })
}

function change(
  environment: Environment,
  username: string,
  wanted: Partial<{ quota: number | null; inactiveDays: number | null; disabled: boolean }>,
  done: string,
): Promise<void> {
  return withAdministration(environment, async ({ accountAdministration }) => {
    const id = await accountAdministration.named(username)
    await accountAdministration.change(COMMAND_LINE, id, wanted)
    printLines(done)
  })
}

function reset(environment: Environment, username: string, options: ResetOptions): Promise<void> {
  return withAdministration(environment, async ({ accountAdministration }, config) => {
    const id = await accountAdministration.named(username)
    const link = await accountAdministration.reset(COMMAND_LINE, id, {
      secondFactor: options.secondFactor === true,
      mailAddress: options.mailAddress === true,
    })
    const url = linkAddress(config, link)
    const expiresAt = timestamp(link.expiresAt)
    if (options.json) return printJson({ username: username.toLowerCase(), url, expires_at: expiresAt })
    printLines(
      `${username.toLowerCase()} is signed out everywhere. Set a new password here; it works once, until ${expiresAt}:`,
      '',
      `  ${url}`,
    )
  })
}

function remove(environment: Environment, username: string, confirm: string): Promise<void> {
  return withAdministration(environment, async ({ accountAdministration }) => {
    const id = await accountAdministration.named(username)
    await accountAdministration.remove(COMMAND_LINE, id, confirm)
    printLines(`Account ${username.toLowerCase()} is deleted with everything in it.`)
  })
}

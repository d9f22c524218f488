import type { Command } from 'commander'
import type { Environment } from '../config/environment.ts'
import { SCOPES, type Scope } from '../domain/access.ts'
import { optionalTime, systemClock, timestamp } from '../domain/clock.ts'
import { parseFolderIdentifier } from '../domain/ids.ts'
import { withAdministration } from './administration.ts'
import { readExpiry, readScopes } from './options.ts'
import { printJson, printLines, printTable } from './output.ts'

interface Format {
  readonly json?: true
}

interface AddOptions extends Format {
  readonly name: string
  readonly scope: readonly Scope[]
  readonly folder?: string
  readonly expires?: number
}

export function keyCommand(key: Command, environment: Environment): void {
  key.description('add, list and revoke API keys')
  key
    .command('add')
    .description('add an API key to an account and print it; it is shown only once')
    .argument('<username>')
    .option('--name <name>', 'the name of the key in lists', 'key')
    .option('--scope <scopes>', 'what the key may do, separated by commas', readScopes, SCOPES)
    .option('--folder <identifier>', 'limit the key to one folder and everything below it')
    .option(
      '--expires <when>',
      'when the key expires: after a number of days (90d), or on a date (2030-01-31)',
      (text) => readExpiry(text, systemClock.now()),
    )
    .option('--json', 'print {"id","username","name","prefix","scopes","folder","expires_at","api_key"}')
    .action((username: string, options: AddOptions) => add(environment, username, options))
  key
    .command('list')
    .description('list the API keys of an account, each by its first characters')
    .argument('<username>')
    .option('--json', 'print a JSON array')
    .action((username: string, { json }: Format) => list(environment, username, json === true))
  key
    .command('revoke')
    .description('revoke an API key; every request with it is refused from now on')
    .argument('<username>')
    .argument('<key>', "the key's number or first characters, as the list shows them")
    .action((username: string, which: string) => revoke(environment, username, which))
}

function add(
  environment: Environment,
  username: string,
  { name, scope, folder, expires, json }: AddOptions,
): Promise<void> {
  return withAdministration(environment, async ({ keys }) => {
    const key = await keys.add(username, {
      name,
      scopes: scope,
      folder: folder === undefined ? null : parseFolderIdentifier(folder),
      expiresAt: expires ?? null,
    })
    if (json) {
      return printJson({
        id: key.id,
        username,
        name: key.name,
        prefix: key.prefix,
        scopes: key.scopes,
        folder: key.folder,
        expires_at: optionalTime(key.expiresAt),
        api_key: key.apiKey,
      })
    }
    printLines(
      `The API key "${key.name}" of ${username}, which is shown only this once:`,
      '',
      `  ${key.apiKey}`,
    )
  })
}

function list(environment: Environment, username: string, json: boolean): Promise<void> {
  return withAdministration(environment, async ({ keys }) => {
    const all = await keys.list(username)
    if (json) {
      return printJson(
        all.map((key) => ({
          id: key.id,
          name: key.name,
          prefix: key.prefix,
          scopes: key.scopes,
          folder: key.folder,
          folder_name: key.folderName,
          expires_at: optionalTime(key.expiresAt),
          created_at: timestamp(key.createdAt),
          last_used_at: optionalTime(key.lastUsedAt),
          revoked_at: optionalTime(key.revokedAt),
        })),
      )
    }
    printTable(
      ['NUMBER', 'NAME', 'BEGINS WITH', 'SCOPES', 'FOLDER', 'SINCE', 'LAST USED', 'STATE'],
      all.map((key) => [
        String(key.id),
        key.name,
        key.prefix,
        key.scopes.join(','),
        key.folder ?? 'all',
        timestamp(key.createdAt),
        optionalTime(key.lastUsedAt) ?? 'never',
        stateOf(key),
      ]),
    )
  })
}

function revoke(environment: Environment, username: string, which: string): Promise<void> {
  return withAdministration(environment, async ({ keys }) => {
    await keys.revoke(username, which)
    printLines(`That API key of ${username} is revoked.`)
  })
}

interface Ends {
  readonly revokedAt: number | null
  readonly expiresAt: number | null
}

function stateOf({ revokedAt, expiresAt }: Ends): string {
  if (revokedAt !== null) return `revoked ${timestamp(revokedAt)}`
  if (expiresAt === null) return 'active'
  return `${expiresAt > systemClock.now() ? 'active until' : 'expired'} ${timestamp(expiresAt)}`
}

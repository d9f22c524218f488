import type { Command } from 'commander'
import type { Environment } from '../config.ts'
import { timestamp } from '../domain/clock.ts'
import { withAdministration } from './administration.ts'
import { printJson, printLines, printTable } from './output.ts'

interface Format {
  readonly json?: true
}

/** `holdfast key …`: works beside a running server on the same data. */
export function keyCommand(key: Command, environment: Environment): void {
  key.description('add, list and revoke API keys')
  key
    .command('add')
    .description('add an API key to an account and print it; it is shown only once')
    .argument('<username>')
    .option('--name <name>', 'what the list calls the key', 'key')
    .option('--json', 'print {"id","username","name","prefix","api_key"}')
    .action((username: string, { name, json }: Format & { readonly name: string }) =>
      add(environment, username, name, json === true),
    )
  key
    .command('list')
    .description('list the API keys of an account, each by its first characters')
    .argument('<username>')
    .option('--json', 'print a JSON array')
    .action((username: string, { json }: Format) => list(environment, username, json === true))
  key
    .command('revoke')
    .description('refuse every request with an API key from now on')
    .argument('<username>')
    .argument('<key>', "the key's number or first characters, as the list shows them")
    .action((username: string, which: string) => revoke(environment, username, which))
}

function add(environment: Environment, username: string, name: string, json: boolean): Promise<void> {
  return withAdministration(environment, async ({ keys }) => {
    const key = await keys.add(username, name)
    if (json) {
      return printJson({ id: key.id, username, name: key.name, prefix: key.prefix, api_key: key.apiKey })
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
          created_at: timestamp(key.createdAt),
          last_used_at: optionalTime(key.lastUsedAt),
          revoked_at: optionalTime(key.revokedAt),
        })),
      )
    }
    printTable(
      ['NUMBER', 'NAME', 'BEGINS WITH', 'SINCE', 'LAST USED', 'STATE'],
      all.map((key) => [
        String(key.id),
        key.name,
        key.prefix,
        timestamp(key.createdAt),
        optionalTime(key.lastUsedAt) ?? 'never',
        key.revokedAt === null ? 'active' : `revoked ${timestamp(key.revokedAt)}`,
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

function optionalTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : timestamp(milliseconds)
}

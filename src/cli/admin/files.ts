import type { Command } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { timestamp } from '../../domain/clock.ts'
import { GUESTS } from '../../domain/ids.ts'
import { formatSize } from '../../domain/sizes.ts'
import { withAdministration } from '../administration.ts'
import { readCount } from '../options.ts'
import { printJson, printTable } from '../output.ts'

interface Options {
  readonly largest?: true
  readonly last: number
  readonly json?: true
}

const LAST = 20

export function filesCommand(files: Command, environment: Environment): void {
  files
    .description('list the newest files of everybody')
    .option('--largest', 'list the largest files instead')
    .option('--last <number>', 'at most this many', readCount, LAST)
    .option('--json', 'print a JSON array')
    .action((options: Options) => list(environment, options))
}

function list(environment: Environment, { largest, last, json }: Options): Promise<void> {
  return withAdministration(environment, async ({ allFiles }) => {
    const { files } = await allFiles.list(largest ? 'size' : 'created_at', 1, last)
    if (json) {
      return printJson(
        files.map(({ account_id, username, created_at, id, uuid, slug, name, type, size, sha256 }) => ({
          id,
          uuid,
          slug,
          name,
          type,
          size,
          sha256,
          created_at: timestamp(created_at),
          account: account_id === GUESTS ? null : { id: account_id, username },
        })),
      )
    }
    printTable(
      ['SLUG', 'SIZE', 'UPLOADED', 'OWNER', 'NAME'],
      files.map((file) => [
        file.slug,
        formatSize(file.size),
        timestamp(file.created_at),
        file.account_id === GUESTS ? '-' : file.username,
        file.name,
      ]),
    )
  })
}

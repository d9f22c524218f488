import { type Command, Option } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { ACTS, type Act } from '../../domain/audit.ts'
import { timestamp } from '../../domain/clock.ts'
import { withAdministration } from '../administration.ts'
import { readCount } from '../options.ts'
import { printJson, printTable } from '../output.ts'

interface Options {
  readonly act?: Act
  readonly last: number
  readonly json?: true
}

const LAST = 100

export function auditCommand(audit: Command, environment: Environment): void {
  audit
    .description('print the audit log, the latest entry first; nobody can change it')
    .addOption(new Option('--act <act>', 'only this').choices([...ACTS]))
    .option('--last <number>', 'at most this many', readCount, LAST)
    .option('--json', 'print a JSON array')
    .action((options: Options) => print(environment, options))
}

function print(environment: Environment, { act, last, json }: Options): Promise<void> {
  return withAdministration(environment, async ({ auditLog }) => {
    const { entries } = await auditLog.list(act ?? null, 1, last)
    if (json) {
      return printJson(
        entries.map(({ id, at, account_id, username, address, act, object, details }) => ({
          id,
          at: timestamp(at),
          account: account_id === null ? null : { id: account_id, username },
          address,
          act,
          object,
          details: JSON.parse(details),
        })),
      )
    }
    printTable(
      ['NUMBER', 'TIME', 'WHO', 'ADDRESS', 'ACT', 'WHAT', 'DETAILS'],
      entries.map((entry) => [
        String(entry.id),
        timestamp(entry.at),
        entry.username ?? (entry.address === null ? 'command line' : 'not signed in'),
        entry.address ?? '-',
        entry.act,
        entry.object ?? '-',
        entry.details === '{}' ? '' : entry.details,
      ]),
    )
  })
}

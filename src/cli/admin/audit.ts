import { type Command, Option } from 'commander'
import type { Environment } from '../../config.ts'
import { ACTS, type Act } from '../../domain/audit.ts'
import { timestamp } from '../../domain/clock.ts'
import { withAdministration } from '../administration.ts'
import { readNumber } from '../options.ts'
import { printJson, printTable } from '../output.ts'

interface Options {
  readonly act?: Act
  readonly last: number
  readonly json?: true
}

const LAST = 100

/** `holdfast admin audit` */
export function auditCommand(audit: Command, environment: Environment): void {
  audit
    .description('print what administrators did, the latest first; nobody can change it')
    .addOption(new Option('--act <act>', 'only this').choices([...ACTS]))
    .option('--last <number>', 'so many at most', readNumber, LAST)
    .option('--json', 'print a JSON array')
    .action((options: Options) => print(environment, options))
}

function print(environment: Environment, { act, last, json }: Options): Promise<void> {
  return withAdministration(environment, async ({ auditLog }) => {
    const { deeds } = await auditLog.list(act ?? null, 1, last)
    if (json) {
      return printJson(
        deeds.map(({ id, at, account_id, username, address, act, object, details }) => ({
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
      deeds.map((deed) => [
        String(deed.id),
        timestamp(deed.at),
        deed.username ?? 'command line',
        deed.address ?? '-',
        deed.act,
        deed.object ?? '-',
        deed.details === '{}' ? '' : deed.details,
      ]),
    )
  })
}

import { type Command, InvalidArgumentError } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { timestamp } from '../../domain/clock.ts'
import { formatSize } from '../../domain/sizes.ts'
import { withAdministration } from '../administration.ts'
import { printJson, printLines, printPairs, printTable } from '../output.ts'

interface Options {
  readonly days: number
  readonly json?: true
}

/** `holdfast admin statistics` */
export function statisticsCommand(statistics: Command, environment: Environment): void {
  statistics
    .description('print what the server holds, and what it did day by day')
    .option('--days <number>', 'the number of days, including today', readDays, 30)
    .option('--json', 'print {"now","days","outages"}')
    .action((options: Options) => print(environment, options))
}

/** Parses a number of days. Throws InvalidArgumentError, which commander shows. */
function readDays(text: string): number {
  const days = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (days >= 1 && days <= 366) return days
  throw new InvalidArgumentError('Allowed is a whole number from 1 to 366.')
}

function print(environment: Environment, options: Options): Promise<void> {
  return withAdministration(environment, async ({ statistics }) => {
    const { now, days, outages } = await statistics.read(options.days)
    const { diskFree: _, reportsOpen, contentsDamaged, unknownProxies, ...totals } = now
    const interruptions = outages.map(({ began_at, ended_at, cause }) => ({
      began_at: timestamp(began_at),
      ended_at: timestamp(ended_at),
      cause,
    }))
    if (options.json) {
      return printJson({
        now: {
          ...totals,
          reports_open: reportsOpen,
          contents_damaged: contentsDamaged,
          unknown_proxies: unknownProxies.map(({ peer, header }) => ({ peer, header })),
        },
        days,
        outages: interruptions,
      })
    }
    printPairs([
      ['Accounts', String(now.accounts)],
      ['Files', `${now.files}, ${now.guests.files} of guests`],
      ['Storage', `${formatSize(now.storage_used)}, ${formatSize(now.guests.storage_used)} of guests`],
      ['In bins', formatSize(now.storage_in_bins)],
      ['Open reports', String(reportsOpen)],
      ['Damaged contents', String(contentsDamaged)],
      [
        'Unknown proxies',
        unknownProxies.map(({ peer, header }) => `${peer} (${header})`).join(', ') || 'none',
      ],
    ])
    if (outages.length > 0) {
      printLines('')
      printTable(
        ['OUTAGE FROM', 'TO', 'CAUSE'],
        interruptions.map(({ began_at, ended_at, cause }) => [began_at, ended_at, cause]),
      )
    }
    printLines('')
    printTable(
      ['DAY', 'REQUESTS', 'IN', 'OUT', 'UPLOADS', 'DOWNLOADS', 'FILES', 'STORAGE'],
      days.map((day) => [
        day.day,
        String(day.requests),
        formatSize(day.bytes_in),
        formatSize(day.bytes_out),
        String(day.uploads),
        String(day.downloads),
        day.files === null ? '-' : String(day.files),
        day.storage_used === null ? '-' : formatSize(day.storage_used),
      ]),
    )
  })
}

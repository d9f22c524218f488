import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { loadConfig, settingsInForce } from '../../config.ts'
import { ACTS, type Act, COMMAND_LINE } from '../../domain/audit.ts'
import { timestamp } from '../../domain/clock.ts'
import { formatSize } from '../../domain/sizes.ts'
import { withAdministration } from '../administration.ts'
import { readCount } from '../options.ts'
import { printJson, printLines, printPairs, printTable } from '../output.ts'

interface StatisticsOptions {
  readonly days: number
  readonly json?: true
}

/** `holdfast admin statistics` */
export function statisticsCommand(statistics: Command, environment: Environment): void {
  statistics
    .description('print what the server holds, and what it did day by day')
    .option('--days <number>', 'the number of days, including today', readDays, 30)
    .option('--json', 'print {"now","days","outages"}')
    .action((options: StatisticsOptions) => printStatistics(environment, options))
}

/** Parses a number of days. Throws InvalidArgumentError, which commander shows. */
function readDays(text: string): number {
  const days = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (days >= 1 && days <= 366) return days
  throw new InvalidArgumentError('Allowed is a whole number from 1 to 366.')
}

function printStatistics(environment: Environment, options: StatisticsOptions): Promise<void> {
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

export function jobsCommand(jobs: Command, environment: Environment): void {
  jobs.description('list background jobs, and retry those that failed')
  jobs
    .command('list')
    .description('list background jobs; with SQLite, only those that fail')
    .option('--json', 'print a JSON array')
    .action(({ json }: { json?: true }) => listJobs(environment, json === true))
  jobs
    .command('retry')
    .description('retry a job that was set aside')
    .argument('<name>', 'as the list shows it')
    .action((name: string) => retryJob(environment, name))
}

function listJobs(environment: Environment, json: boolean): Promise<void> {
  return withAdministration(environment, async ({ backgroundJobs }) => {
    const jobs = await backgroundJobs.list()
    if (json) return printJson(jobs)
    printTable(
      ['NAME', 'STATE', 'ENDED', 'FAILURES', 'FAILURE'],
      jobs.map(({ name, state, ended_at, failures, failure }) => [
        name,
        state,
        ended_at ?? '-',
        String(failures),
        failure ?? '-',
      ]),
    )
  })
}

function retryJob(environment: Environment, name: string): Promise<void> {
  return withAdministration(environment, async ({ backgroundJobs }) => {
    await backgroundJobs.retry(COMMAND_LINE, name)
    printLines(`The job "${name}" runs again at its next time.`)
  })
}

export function nodesCommand(nodes: Command, environment: Environment): void {
  nodes
    .description('list the servers that share the database')
    .option('--json', 'print a JSON array')
    .action(({ json }: { json?: true }) => listNodes(environment, json === true))
}

function listNodes(environment: Environment, json: boolean): Promise<void> {
  return withAdministration(environment, async ({ backgroundJobs }) => {
    const nodes = (await backgroundJobs.nodes()).map(({ is_this: _, ...node }) => node)
    if (json) return printJson(nodes)
    printTable(
      ['NODE', 'STARTED', 'HOST', 'ADDRESS', 'VERSION'],
      nodes.map(({ id, started_at, host, address, version }) => [id, started_at, host, address, version]),
    )
  })
}

export function settingsCommand(command: Command, environment: Environment): void {
  command
    .description('list the settings in force; secrets are not shown')
    .option('--json', 'print a JSON array')
    .action(({ json }: { json?: true }) => listSettings(environment, json === true))
}

function listSettings(environment: Environment, json: boolean): void {
  // Validates first: an invalid setting is not in force.
  loadConfig(environment)
  const settings = settingsInForce(environment)
  if (json) {
    const described = settings.map(({ variable, value, isDefault, isSecret, description }) => ({
      name: variable,
      value,
      is_default: isDefault,
      is_secret: isSecret,
      description,
    }))
    printJson(described)
  } else {
    const rows = settings.map(({ variable, value, isDefault }) => [
      variable,
      isDefault ? 'default' : 'environment',
      value === '' ? '-' : value,
    ])
    printTable(['NAME', 'FROM', 'VALUE'], rows)
  }
}

interface AuditOptions {
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
    .action((options: AuditOptions) => printAudit(environment, options))
}

function printAudit(environment: Environment, { act, last, json }: AuditOptions): Promise<void> {
  return withAdministration(environment, async ({ auditLog }) => {
    const { entries } = await auditLog.list(act ?? null, 1, last)
    if (json) return printJson(entries)
    printTable(
      ['NUMBER', 'TIME', 'WHO', 'ADDRESS', 'ACT', 'WHAT', 'DETAILS'],
      entries.map((entry) => [
        String(entry.id),
        entry.at,
        entry.account?.username ?? (entry.address === null ? 'command line' : 'not signed in'),
        entry.address ?? '-',
        entry.act,
        entry.object ?? '-',
        Object.keys(entry.details).length === 0 ? '' : JSON.stringify(entry.details),
      ]),
    )
  })
}

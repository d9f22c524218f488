import type { Command } from 'commander'
import type { Environment } from '../config/environment.ts'
import type { Config } from '../config.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import { optionalTime, timestamp } from '../domain/clock.ts'
import type { ReportId } from '../domain/ids.ts'
import { takeDownCommand } from './admin/take-downs.ts'
import { withAdministration } from './administration.ts'
import { readNumber } from './options.ts'
import { printJson, printLines, printPairs, printTable } from './output.ts'
import { databasePlace } from './session.ts'

interface ListOptions {
  readonly all?: true
  readonly json?: true
}

export function reportCommand(report: Command, environment: Environment): void {
  report.description('list, read and close reports about files')
  reportListCommand(report.command('list'), environment)
  report
    .command('show')
    .description('print one report with its text')
    .argument('<number>', 'as the list shows it', readReport)
    .action((id: ReportId) => show(environment, id))
  dismissCommand(report.command('dismiss'), environment)
  takeDownCommand(report.command('take-down'), environment)
}

function reportListCommand(command: Command, environment: Environment): void {
  command
    .description('list the open reports, the newest first')
    .option('--all', 'include closed reports')
    .option('--json', 'print a JSON array, with the texts')
    .action((options: ListOptions) => list(environment, options))
}

function dismissCommand(command: Command, environment: Environment): void {
  command
    .description('close reports and leave their files as they are')
    .argument('<number...>', 'as the list shows them', (text, before: readonly ReportId[] | undefined) => [
      ...(before ?? []),
      readReport(text),
    ])
    .action((ids: readonly ReportId[]) => dismiss(environment, ids))
}

function readReport(text: string): ReportId {
  return readNumber(text) as ReportId
}

function list(environment: Environment, { all, json }: ListOptions): Promise<void> {
  return withAdministration(environment, async ({ reports }, config) => {
    const found = await reports.list(all ? 'all' : 'open')
    if (json) {
      return printJson(
        found.map(({ createdAt, closedAt, ...report }) => ({
          ...report,
          created_at: timestamp(createdAt),
          closed_at: optionalTime(closedAt),
        })),
      )
    }
    if (found.length === 0) {
      return printLines(`No ${all ? '' : 'open '}reports in ${databasePlace(config)}.`)
    }
    printTable(
      ['NUMBER', 'REASON', 'REPORTED', 'STATE', 'FILE', 'NAME'],
      found.map(({ id, reason, createdAt, state, file }) => [
        String(id),
        reason,
        timestamp(createdAt),
        state,
        file.slug,
        file.name,
      ]),
    )
  })
}

function show(environment: Environment, id: ReportId): Promise<void> {
  return withAdministration(environment, async ({ reports }, config) => {
    const { file, reason, text, createdAt, state, closedAt, fileIsHere } = await reports.get(id)
    printPairs([
      ['Report', String(id)],
      ['Reason', reason],
      ['Reported', timestamp(createdAt)],
      ['State', closedAt === null ? state : `${state} ${timestamp(closedAt)}`],
      ['File', file.name],
      ['Page', pageOf(config, file.slug)],
      ['SHA-256', file.sha256],
      ['Still there', fileIsHere ? 'yes' : 'no'],
    ])
    if (text !== null) printLines('', text)
  })
}

function dismiss(environment: Environment, ids: readonly ReportId[]): Promise<void> {
  return withAdministration(environment, async ({ reports }) => {
    for (const id of ids) {
      await reports.dismiss(COMMAND_LINE, id)
      printLines(`Report ${id} is closed.`)
    }
  })
}

/** A path only, if the settings have no public address. */
function pageOf({ publicUrl }: Config, slug: string): string {
  return `${publicUrl ?? ''}/d/${slug}`
}

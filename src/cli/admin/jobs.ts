import type { Command } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { COMMAND_LINE } from '../../domain/audit.ts'
import { optionalTime } from '../../domain/clock.ts'
import { withAdministration } from '../administration.ts'
import { printJson, printLines, printTable } from '../output.ts'

export function jobsCommand(jobs: Command, environment: Environment): void {
  jobs.description('list background jobs, and retry those that failed')
  jobs
    .command('list')
    .description('list background jobs; with SQLite, only those that fail')
    .option('--json', 'print a JSON array')
    .action(({ json }: { json?: true }) => list(environment, json === true))
  jobs
    .command('retry')
    .description('retry a job that was set aside')
    .argument('<name>', 'as the list shows it')
    .action((name: string) => retry(environment, name))
}

function list(environment: Environment, json: boolean): Promise<void> {
  return withAdministration(environment, async ({ backgroundJobs }) => {
    const jobs = await backgroundJobs.list()
    if (json) {
      return printJson(
        jobs.map(({ name, state, node, endedAt, failures, failure, failedAt }) => ({
          name,
          state,
          node,
          ended_at: optionalTime(endedAt),
          failures,
          failure,
          failed_at: optionalTime(failedAt),
        })),
      )
    }
    printTable(
      ['NAME', 'STATE', 'ENDED', 'FAILURES', 'FAILURE'],
      jobs.map(({ name, state, endedAt, failures, failure }) => [
        name,
        state,
        optionalTime(endedAt) ?? '-',
        String(failures),
        failure ?? '-',
      ]),
    )
  })
}

function retry(environment: Environment, name: string): Promise<void> {
  return withAdministration(environment, async ({ backgroundJobs }) => {
    await backgroundJobs.retry(COMMAND_LINE, name)
    printLines(`The job "${name}" runs again at its next time.`)
  })
}

import type { Command } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { timestamp } from '../../domain/clock.ts'
import { withAdministration } from '../administration.ts'
import { printJson, printTable } from '../output.ts'

export function nodesCommand(nodes: Command, environment: Environment): void {
  nodes
    .description('list the servers that share the database')
    .option('--json', 'print a JSON array')
    .action(({ json }: { json?: true }) => list(environment, json === true))
}

function list(environment: Environment, json: boolean): Promise<void> {
  return withAdministration(environment, async ({ backgroundJobs }) => {
    const nodes = await backgroundJobs.nodes()
    const rows = nodes.map(({ id, started_at, host, address, version }) => ({
      id,
      started_at: timestamp(started_at),
      host,
      address,
      version,
    }))
    if (json) return printJson(rows)
    printTable(
      ['NODE', 'STARTED', 'HOST', 'ADDRESS', 'VERSION'],
      rows.map(({ id, started_at, host, address, version }) => [id, started_at, host, address, version]),
    )
  })
}

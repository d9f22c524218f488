import type { Command } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { COMMAND_LINE } from '../../domain/audit.ts'
import { timestamp } from '../../domain/clock.ts'
import { withAdministration } from '../administration.ts'
import { printJson, printLines } from '../output.ts'
import { linkAddress } from '../places.ts'

export function inviteCommand(command: Command, environment: Environment): void {
  command
    .description('print a one-time link by which somebody can make one account')
    .option('--json', 'print {"url","expires_at"}')
    .action(({ json }: { json?: true }) => invite(environment, json === true))
}

function invite(environment: Environment, json: boolean): Promise<void> {
  return withAdministration(environment, async ({ oneTimeLinks }, config) => {
    const link = await oneTimeLinks.invitation(COMMAND_LINE)
    const url = linkAddress(config, link)
    const expiresAt = timestamp(link.expiresAt)
    if (json) return printJson({ url, expires_at: expiresAt })
    printLines(`Somebody can make one account here; the link works once, until ${expiresAt}:`, '', `  ${url}`)
  })
}

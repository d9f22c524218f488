import type { Command } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { loadConfig, settingsInForce } from '../../config.ts'
import { printJson, printTable } from '../output.ts'

export function settingsCommand(command: Command, environment: Environment): void {
  command
    .description('list the settings in force; secrets are not shown')
    .option('--json', 'print a JSON array')
    .action(({ json }: { json?: true }) => list(environment, json === true))
}

function list(environment: Environment, json: boolean): void {
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

import type { Command } from 'commander'
import { type Environment, shown, written } from '../config/environment.ts'
import { loadConfig } from '../config.ts'
import { settings } from '../settings.ts'
import { printJson, printLines } from './output.ts'

/** Fails after the list when a setting is invalid. */
export function configCommand(config: Command, environment: Environment): void {
  config
    .description('list every setting: its value, its default and what is allowed')
    .option('--json', 'print a JSON array')
    .action(({ json }: { json?: true }) => listSettings(environment, json === true))
}

function listSettings(environment: Environment, json: boolean): void {
  if (json) {
    printJson(
      Object.values(settings).map((setting) => {
        const text = written(setting, environment)
        return {
          variable: setting.variable,
          value: shown(setting, text ?? setting.default),
          is_set: text !== undefined,
          default: setting.default,
          allowed: setting.allowed,
          description: setting.description,
        }
      }),
    )
    loadConfig(environment)
    return
  }
  for (const setting of Object.values(settings)) {
    const text = written(setting, environment)
    const fallback = setting.default === '' ? 'unset' : setting.default
    printLines(
      `${setting.variable}=${shown(setting, text ?? setting.default)}`,
      `    ${setting.description}`,
      `    ${text === undefined ? 'Default' : `Set; the default is ${fallback}`}. Allowed: ${setting.allowed}.`,
    )
  }
  loadConfig(environment)
}

import type { Command } from 'commander'
import { type Environment, loadConfig, shown, written } from '../config.ts'
import { settings } from '../settings.ts'
import { printLines } from './output.ts'

/** `holdfast config`: every setting with its value. Fails, after the list, when the environment is refused. */
export function configCommand(config: Command, environment: Environment): void {
  config
    .description('list every setting: its value, its default and what is allowed')
    .action(() => listSettings(environment))
}

function listSettings(environment: Environment): void {
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

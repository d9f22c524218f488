import type { Setting } from '../settings.ts'
import type { ConfigProblem } from './config-problems.ts'

/** The variables that the process was started with, and those of the `.env` file (`cli/env-file.ts`). */
export type Environment = Record<string, string | undefined>

/** The text of a setting in the environment, trimmed; undefined when the variable is empty or not set. */
export function written(setting: Setting<unknown>, environment: Environment): string | undefined {
  return environment[setting.variable]?.trim() || undefined
}

/** The text of a setting as it may be shown: secrets become "…", and passwords in addresses are masked. */
export function shown(setting: Setting<unknown>, text: string): string {
  return setting.isSecret && text !== '' ? '…' : withoutPassword(text)
}

/** The text with the passwords in addresses masked, also those that are not percent-encoded as they should be. */
export function withoutPassword(text: string): string {
  return text.replace(/(:\/\/[^:/]*):.*@/, '$1:…@').replace(/([?&](?:ssl)?password=)[^&]*/gi, '$1…')
}

/** Reads settings from an environment and collects the problems of those that are not allowed. */
export class SettingsReader {
  readonly problems: ConfigProblem[] = []
  readonly #environment: Environment

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** The value of the setting; its default when the variable is not set, or when its text is not allowed. */
  value<T>(setting: Setting<T>): T {
    const text = this.written(setting)
    const value = setting.read(text ?? setting.default)
    if (value !== undefined) return value
    this.problems.push({
      variable: setting.variable,
      value: shown(setting, text ?? ''),
      reason: `allowed is ${setting.allowed}`,
    })
    return defaultOf(setting)
  }

  written(setting: Setting<unknown>): string | undefined {
    return written(setting, this.#environment)
  }

  isWritten(setting: Setting<unknown>): boolean {
    return this.written(setting) !== undefined
  }

  /** The text of the setting as it may be shown; empty when the variable is not set. */
  shown(setting: Setting<unknown>): string {
    return shown(setting, this.written(setting) ?? '')
  }
}

function defaultOf<T>(setting: Setting<T>): T {
  const value = setting.read(setting.default)
  if (value === undefined) throw new Error(`the default of ${setting.variable} is not allowed`)
  return value
}

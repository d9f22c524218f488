import type { Setting } from '../settings.ts'
import type { ConfigProblem } from './config-problems.ts'
import { fileVariable, secretFile, textInFile } from './secret-files.ts'

export { fileVariable }

/** The variables that the process was started with, and those of the `.env` file (`cli/env-file.ts`). */
export type Environment = Record<string, string | undefined>

/**
 * The text of a setting in the environment, or in the file that it names for it, trimmed; undefined when neither has one. A file
 * is read each time.
 */
export function written(setting: Setting<unknown>, environment: Environment): string | undefined {
  return environment[setting.variable]?.trim() || textInFile(setting, environment)
}

/** The variable by which the setting is set. */
export function variableInUse(setting: Setting<unknown>, environment: Environment): string {
  const isItself = Boolean(environment[setting.variable]?.trim())
  return (isItself ? undefined : secretFile(setting, environment)?.variable) ?? setting.variable
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
  #wrongReads = 0

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** The value of the setting; its default when the variable is not set, or when its text is not allowed. */
  value<T>(setting: Setting<T>): T {
    const text = this.written(setting)
    const value = setting.read(text ?? setting.default)
    if (value !== undefined) return value
    this.#wrongReads += 1
    const variable = variableInUse(setting, this.#environment)
    if (!this.problems.some((problem) => problem.variable === variable)) {
      const isInFile = variable !== setting.variable
      this.problems.push({
        variable,
        value: isInFile ? (this.#environment[variable]?.trim() ?? '') : shown(setting, text ?? ''),
        reason: `${isInFile ? 'what it holds is not allowed; ' : ''}allowed is ${setting.allowed}`,
      })
    }
    return defaultOf(setting)
  }

  /**
   * What the rule finds; nothing when it has used a value that is not allowed, since the default in its place would make another
   * variable look at fault.
   */
  amongAllowed(rule: (reader: SettingsReader) => ConfigProblem[]): ConfigProblem[] {
    const before = this.#wrongReads
    const found = rule(this)
    return this.#wrongReads === before ? found : []
  }

  written(setting: Setting<unknown>): string | undefined {
    return written(setting, this.#environment)
  }

  isWritten(setting: Setting<unknown>): boolean {
    // Also by a file that cannot be read, which is a problem of its own.
    return this.written(setting) !== undefined || secretFile(setting, this.#environment) !== undefined
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

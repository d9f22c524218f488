import type { Setting } from '../settings.ts'
import type { ConfigProblem } from './config-problems.ts'
import { fileVariable, secretFile, textInFile } from './secret-files.ts'

export { fileVariable }

export type Environment = Record<string, string | undefined>

/** Trimmed text of the setting, from its variable or the file named for it. Reads the file on every call. */
export function written(setting: Setting<unknown>, environment: Environment): string | undefined {
  return environment[setting.variable]?.trim() || textInFile(setting, environment)
}

export function variableInUse(setting: Setting<unknown>, environment: Environment): string {
  const isItself = Boolean(environment[setting.variable]?.trim())
  return (isItself ? undefined : secretFile(setting, environment)?.variable) ?? setting.variable
}

/** Secrets become "…", and passwords in addresses are masked. */
export function shown(setting: Setting<unknown>, text: string): string {
  return setting.isSecret && text !== '' ? '…' : withoutPassword(text)
}

/** Masks passwords in addresses, also badly percent-encoded ones. */
export function withoutPassword(text: string): string {
  return text.replace(/(:\/\/[^:/]*):.*@/, '$1:…@').replace(/([?&](?:ssl)?password=)[^&]*/gi, '$1…')
}

export class SettingsReader {
  readonly problems: ConfigProblem[] = []
  readonly #environment: Environment
  #wrongReads = 0

  constructor(environment: Environment) {
    this.#environment = environment
  }

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

  /** Problems that the rule finds; none if it read an invalid value, whose default would blame another variable. */
  amongAllowed(rule: (reader: SettingsReader) => ConfigProblem[]): ConfigProblem[] {
    const before = this.#wrongReads
    const found = rule(this)
    return this.#wrongReads === before ? found : []
  }

  written(setting: Setting<unknown>): string | undefined {
    return written(setting, this.#environment)
  }

  isWritten(setting: Setting<unknown>): boolean {
    // Also set by an unreadable file, which is a problem of its own.
    return this.written(setting) !== undefined || secretFile(setting, this.#environment) !== undefined
  }

  shown(setting: Setting<unknown>): string {
    return shown(setting, this.written(setting) ?? '')
  }
}

function defaultOf<T>(setting: Setting<T>): T {
  const value = setting.read(setting.default)
  if (value === undefined) throw new Error(`the default of ${setting.variable} is not allowed`)
  return value
}

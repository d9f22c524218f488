import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Setting, settings } from '../settings.ts'

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

export interface ConfigProblem {
  readonly variable: string
  readonly value: string
  readonly reason: string
}

/** The message lists every wrong variable, one a line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(readonly problems: readonly ConfigProblem[]) {
    super(problems.map(({ variable, value, reason }) => `${variable} is "${value}": ${reason}`).join('\n'))
  }
}

/** `X_FILE` names a file with the value of `X`, the convention of systemd, Docker and Kubernetes. */

const SUFFIX = '_FILE'
const OTHERS_READ = 0o004
const OTHERS_ENTER = 0o001
/** Container engines put secrets here; only the container sees them, whatever the mode says. */
const OF_CONTAINER = /^(\/var)?\/run\/secrets\//

const OWN_FILES: readonly Setting<unknown>[] = [settings.secretFile, settings.backupPassphraseFile]

export interface SecretFile {
  readonly variable: string
  readonly path: string
}

export function fileVariable(setting: Setting<unknown>): string | undefined {
  // HOLDFAST_SECRET_FILE is a setting by itself.
  const isInFile =
    (setting.isSecret || setting.holdsPassword) && setting.variable !== settings.secret.variable
  return isInFile ? setting.variable + SUFFIX : undefined
}

export function fileVariables(): string[] {
  return Object.values(settings).flatMap((setting) => fileVariable(setting) ?? [])
}

export function secretFile(setting: Setting<unknown>, environment: Environment): SecretFile | undefined {
  const variable = fileVariable(setting)
  const path = variable === undefined ? '' : (environment[variable]?.trim() ?? '')
  return variable === undefined || path === '' ? undefined : { variable, path: resolve(path) }
}

/** Trimmed; undefined when the environment names no file or the file cannot be read. */
export function textInFile(setting: Setting<unknown>, environment: Environment): string | undefined {
  const file = secretFile(setting, environment)
  const text = file === undefined ? undefined : textOf(file)
  return typeof text === 'string' ? text || undefined : undefined
}

/** Unusable files. Their content is judged like the setting itself. */
export function secretFileProblems(environment: Environment): ConfigProblem[] {
  return Object.values(settings).flatMap((setting: Setting<unknown>) => {
    const file = secretFile(setting, environment)
    if (file === undefined) return []
    const problem = (reason: string) => [{ variable: file.variable, value: file.path, reason }]
    if (environment[setting.variable]?.trim())
      return problem(`${setting.variable} is set as well; leave one of them out`)
    const text = textOf(file)
    if (typeof text !== 'string') return problem(`it cannot be read: ${text.message}`)
    return text === '' ? problem('it is empty') : []
  })
}

export function secretFiles(environment: Environment): SecretFile[] {
  const own = OWN_FILES.flatMap(({ variable }) => {
    const path = environment[variable]?.trim() ?? ''
    return path === '' ? [] : [{ variable, path: resolve(path) }]
  })
  return [...own, ...Object.values(settings).flatMap((setting) => secretFile(setting, environment) ?? [])]
}

export function openToOthers(files: readonly SecretFile[]): SecretFile[] {
  return files.filter(({ path }) => !OF_CONTAINER.test(path) && canOthersRead(path))
}

function canOthersRead(path: string): boolean {
  if ((modeOf(path) & OTHERS_READ) === 0) return false
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((modeOf(folder) & OTHERS_ENTER) === 0) return false
    if (folder === dirname(folder)) return true
  }
}

function modeOf(path: string): number {
  try {
    return statSync(path).mode
  } catch {
    return 0
  }
}

function textOf({ path }: SecretFile): string | Error {
  try {
    return readFileSync(path, 'utf8')
      .replace(/^\uFEFF/, '')
      .trim()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** `X_FILE` names a file with the value of `X`, the convention of systemd, Docker and Kubernetes. */
import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Setting, settings } from '../settings.ts'
import type { ConfigProblem } from './config-problems.ts'

type Environment = Readonly<Record<string, string | undefined>>

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

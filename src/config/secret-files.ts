/** Secrets in files: what `X` would hold may lie in a file that `X_FILE` names, as systemd, Docker and Kubernetes hand them out. */
import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Setting, settings } from '../settings.ts'
import type { ConfigProblem } from './config-problems.ts'

type Environment = Readonly<Record<string, string | undefined>>

const SUFFIX = '_FILE'
/** The right to read of those who are neither the owner nor in the group. */
const OTHERS_READ = 0o004
/** For a folder: the right to reach what is in it. */
const OTHERS_ENTER = 0o001
/** Where container engines put secrets: nobody but the container is in there, whatever the mode says. */
const OF_CONTAINER = /^(\/var)?\/run\/secrets\//

/** Settings with a file of their own, which is read when its secret is needed. */
const OWN_FILES: readonly Setting<unknown>[] = [settings.secretFile, settings.backupPassphraseFile]

/** A file with a secret, by the variable that names it. */
export interface SecretFile {
  readonly variable: string
  /** An absolute path. */
  readonly path: string
}

/** The variable that may name a file with the setting's value; undefined for a setting that is no secret. */
export function fileVariable(setting: Setting<unknown>): string | undefined {
  // HOLDFAST_SECRET_FILE is a setting by itself.
  const isInFile =
    (setting.isSecret || setting.holdsPassword) && setting.variable !== settings.secret.variable
  return isInFile ? setting.variable + SUFFIX : undefined
}

/** Every variable that names a file with a secret, beside those that are settings. */
export function fileVariables(): string[] {
  return Object.values(settings).flatMap((setting) => fileVariable(setting) ?? [])
}

/** The file that the environment names for the setting. */
export function secretFile(setting: Setting<unknown>, environment: Environment): SecretFile | undefined {
  const variable = fileVariable(setting)
  const path = variable === undefined ? '' : (environment[variable]?.trim() ?? '')
  return variable === undefined || path === '' ? undefined : { variable, path: resolve(path) }
}

/** The text in the file, trimmed; undefined when the environment names none or it cannot be read. */
export function textInFile(setting: Setting<unknown>, environment: Environment): string | undefined {
  const file = secretFile(setting, environment)
  const text = file === undefined ? undefined : textOf(file)
  return typeof text === 'string' ? text || undefined : undefined
}

/** Files that cannot be used. What they hold is judged as the setting itself. */
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

/** Every file with a secret that the environment names. */
export function secretFiles(environment: Environment): SecretFile[] {
  const own = OWN_FILES.flatMap(({ variable }) => {
    const path = environment[variable]?.trim() ?? ''
    return path === '' ? [] : [{ variable, path: resolve(path) }]
  })
  return [...own, ...Object.values(settings).flatMap((setting) => secretFile(setting, environment) ?? [])]
}

/** Those of the files that every user of this machine can read. */
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

/** 0 for what is not there. */
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

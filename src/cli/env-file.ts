import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { ConfigError, type Environment } from '../config/environment.ts'
import { Refusal } from '../domain/errors.ts'

/**
 * Adds a file named `.env` in the folder; variables of the environment take precedence. `#` ends an unquoted value,
 * `\n` is a newline within double quotes, `$` has no meaning. Throws ConfigError for a value that a `#` would silently
 * truncate and for a name without one, Refusal for an unreadable file.
 */
export function withEnvFile(environment: Environment, folder: string): Environment {
  const text = readText(join(folder, '.env'))
  return text === null ? environment : withText(environment, text, '.env')
}

/** `withEnvFile` for a file of any name, which must exist. Throws ConfigError, and Refusal for an unreadable file. */
export function withNamedFile(environment: Environment, path: string): Environment {
  try {
    return withText(environment, readFileSync(path, 'utf8').replace(/^\uFEFF/, ''), path)
  } catch (error) {
    if (error instanceof ConfigError || !(error instanceof Error)) throw error
    throw unreadable(path, error)
  }
}

function unreadable(path: string, { message }: Error): Refusal {
  return new Refusal('PRECONDITION_FAILED', `the settings in ${path} cannot be read: ${message}`)
}

function withText(environment: Environment, text: string, name: string): Environment {
  const problem = (reason: string) => {
    return ([, variable = '']: RegExpExecArray) => ({ variable, value: '…', reason: `in ${name} ${reason}` })
  }
  const problems = [
    ...text
      .matchAll(CUT_SHORT)
      .map(problem('a # ends what is in no quotes; write the value in single quotes')),
    ...text.matchAll(WITHOUT_VALUE).map(problem('there is no = behind the name; write NAME=value')),
  ]
  if (problems.length > 0) throw new ConfigError(problems)
  return { ...parseEnv(text), ...environment }
}

/** A `#` without a space before it, in an unquoted value. */
const CUT_SHORT = /^[ \t]*(?:export[ \t]+)?(HOLDFAST_\w+)[ \t]*=[ \t]*[^\s'"`#][^\r\n#]*(?<![\s])#/gm

const WITHOUT_VALUE = /^[ \t]*(?:export[ \t]+)?(HOLDFAST_\w+)(?!\w)[ \t]*(?![ \t=])/gm

/** Null for a missing file, and for a folder of that name: often a Python environment. */
function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if ('code' in error && (error.code === 'ENOENT' || error.code === 'EISDIR')) return null
    throw unreadable(path, error)
  }
}

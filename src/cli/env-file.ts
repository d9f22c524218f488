import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { ConfigError, type Environment } from '../config.ts'
import { Refusal } from '../domain/errors.ts'

/**
 * The environment with what a file named `.env` in the folder adds to it; what the environment has already goes first.
 * `#` ends a value that is in no quotes, `\n` means a new line within double quotes, `$` means nothing.
 * Throws ConfigError for a value that would silently be cut short at a `#`.
 */
export function withEnvFile(environment: Environment, folder: string): Environment {
  const text = readText(join(folder, '.env'))
  return text === null ? environment : withText(environment, text, '.env')
}

/** The same for a file of any name, which has to be there. Throws ConfigError, and Refusal for one that cannot be read. */
export function withNamedFile(environment: Environment, path: string): Environment {
  try {
    return withText(environment, readFileSync(path, 'utf8').replace(/^\uFEFF/, ''), path)
  } catch (error) {
    if (error instanceof ConfigError || !(error instanceof Error)) throw error
    throw new Refusal('PRECONDITION_FAILED', `the settings in ${path} cannot be read: ${error.message}`)
  }
}

function withText(environment: Environment, text: string, name: string): Environment {
  const problems = [...text.matchAll(CUT_SHORT)].map(([, variable = '']) => ({
    variable,
    value: '…',
    reason: `in ${name} a # ends what is in no quotes; write the value in single quotes`,
  }))
  if (problems.length > 0) throw new ConfigError(problems)
  return { ...parseEnv(text), ...environment }
}

/** A `#` right behind something else, in a value without quotes. */
const CUT_SHORT = /^[ \t]*(?:export[ \t]+)?(HOLDFAST_\w+)[ \t]*=[ \t]*[^\s'"`#][^\r\n#]*(?<![\s])#/gm

/** Null where there is none. A folder of that name is somebody's Python. */
function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EISDIR')) {
      return null
    }
    throw error
  }
}

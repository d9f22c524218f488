import { ConfigError, type Environment } from '../config.ts'
import { Refusal } from '../domain/errors.ts'

/** What went wrong, for the person at the terminal: one sentence that says what to do, without a stack. */
export function explain(error: unknown, environment: Environment): string {
  if (error instanceof ConfigError) {
    const lines = error.problems.map(
      ({ variable, value, reason }) => `  ${variable} is "${value}": ${reason}`,
    )
    return [
      'Holdfast cannot start with these settings; correct them in the environment or in .env:',
      ...lines,
    ].join('\n')
  }
  if (error instanceof Refusal || (error instanceof Error && WORDED.includes(error.name)))
    return error.message
  return explainSystem(error) ?? explainUnknown(error, environment)
}

/** Like refusals, these are worded for people where they are thrown. */
const WORDED = [
  'DataFolderInUse',
  'DatabaseTooNew',
  'WrongStore',
  'ClientError',
  'ConnectionError',
  'AnswerError',
  'FileChanged',
  'SiteNotBuilt',
  'LinkInStore',
]

function explainSystem(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null
  const path = 'path' in error && typeof error.path === 'string' ? error.path : 'the data folder'
  switch (error.code) {
    case 'EADDRINUSE':
      return 'the address is taken by another program; stop that one, or set HOLDFAST_PORT to a free port.'
    case 'EADDRNOTAVAIL':
      return 'the address is not one of this machine; set HOLDFAST_HOST to one that is.'
    case 'EACCES':
    case 'EPERM':
      return `access to ${path} is denied; run as its owner, or set HOLDFAST_DATA_DIR (and a HOLDFAST_PORT from 1024 up).`
    case 'EROFS':
      return `${path} is on a read-only disk; set HOLDFAST_DATA_DIR to a folder that can be written.`
    case 'ENOSPC':
      return `the disk under ${path} is full; free some room and try again.`
    case 'ENOTDIR':
    case 'EEXIST':
      return `${path} is not a folder; set HOLDFAST_DATA_DIR to one.`
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'ETIMEDOUT':
    case '57P03':
      return 'the database does not answer; see that it runs, and that HOLDFAST_DATABASE_URL is its address.'
    case '28P01':
    case '28000':
      return 'the database refuses the user or the password of HOLDFAST_DATABASE_URL.'
    case '3D000':
      return 'the database that HOLDFAST_DATABASE_URL names does not exist; make it with "createdb", or correct the name.'
    default:
      return null
  }
}

function explainUnknown(error: unknown, environment: Environment): string {
  if (environment.HOLDFAST_LOG_LEVEL === 'debug')
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  const message = error instanceof Error ? error.message : String(error)
  return `${message}; set HOLDFAST_LOG_LEVEL=debug to see where this comes from.`
}

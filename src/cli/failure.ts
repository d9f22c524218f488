import { ConfigError, type Environment } from '../config/environment.ts'
import { Refusal } from '../domain/errors.ts'
import { clientVariables } from '../settings.ts'
import { explainStart } from './start-failures.ts'

/** One sentence that says what to do, without a stack trace. */
export function explain(error: unknown, environment: Environment): string {
  if (error instanceof ConfigError) {
    const lines = error.problems.map(
      ({ variable, value, reason }) => `  ${variable} is "${value}": ${reason}`,
    )
    return [
      'Holdfast cannot start with these settings; correct them in the environment or in the file with settings (.env, or that of --env-file):',
      ...lines,
    ].join('\n')
  }
  if (isFull(error)) {
    return 'no room is left where the bytes go. Free some there, or name another place, and run the same command again.'
  }
  if (isKeyRefused(error)) {
    return `${error.message}. Log in again with "holdfast login", or set another ${clientVariables.apiKey}, and run the same command again.`
  }
  if (error instanceof Refusal || (error instanceof Error && WORDED_ERRORS.includes(error.name)))
    return error.message
  return explainStart(error, environment) ?? explainUnknown(error, environment)
}

/** Their messages are written for the terminal, like those of refusals. */
const WORDED_ERRORS = [
  'DataFolderInUse',
  'DatabaseTooNew',
  'PostgresTooOld',
  'WrongStore',
  'ClientError',
  'ConnectionError',
  'AnswerError',
  'FileChanged',
  'SiteNotBuilt',
  'LinkInStore',
  'StoreUnusable',
  'MirrorUnusable',
]

function isKeyRefused(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'INVALID_API_KEY'
}

function isFull(error: unknown): boolean {
  return (
    error instanceof Error && error.name === 'StoreFailure' && 'reason' in error && error.reason === 'full'
  )
}

function explainUnknown(error: unknown, environment: Environment): string {
  if (environment.HOLDFAST_LOG_LEVEL === 'debug')
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  const message = error instanceof Error ? error.message : String(error)
  return `${message}; set HOLDFAST_LOG_LEVEL=debug to see where this comes from.`
}

/** A check succeeded, and has printed the faults that it found. */
export class ProblemsFound extends Error {
  override readonly name = 'ProblemsFound'
}

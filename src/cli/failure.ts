import { ConfigError, type Environment } from '../config.ts'
import { Refusal } from '../domain/errors.ts'
import { explainStart } from './start-failures.ts'

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
  return explainStart(error, environment) ?? explainUnknown(error, environment)
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
  'StoreUnusable',
]

function explainUnknown(error: unknown, environment: Environment): string {
  if (environment.HOLDFAST_LOG_LEVEL === 'debug')
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  const message = error instanceof Error ? error.message : String(error)
  return `${message}; set HOLDFAST_LOG_LEVEL=debug to see where this comes from.`
}

import { RequestFailure } from '../start/answers.ts'

/** Why there is no list, or an old one. */
export type Problem =
  /** Nobody answers; it is tried again. */
  | 'network'
  | 'signed out'
  /** The folder is not there, or no longer. */
  | 'missing'

export function problemOf(error: unknown): Problem {
  const code = error instanceof RequestFailure ? error.answer?.code : null
  if (code === 'INVALID_API_KEY' || code === 'ACCOUNT_DISABLED') return 'signed out'
  return code === 'FOLDER_NOT_FOUND' ? 'missing' : 'network'
}

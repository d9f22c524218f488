import { RequestFailure } from '../uploads/answers.ts'

export type ListProblem =
  /** Retried. */
  | 'network'
  | 'signed out'
  /** The folder is gone. */
  | 'missing'

export function problemOf(error: unknown): ListProblem {
  const answer = error instanceof RequestFailure ? error.answer : null
  if (answer?.code === 'FOLDER_NOT_FOUND') return 'missing'
  const isOut = answer?.code === 'ACCOUNT_DISABLED' || (answer?.status === 401 && answer.code !== null)
  return isOut ? 'signed out' : 'network'
}

import type { ErrorCode } from '../domain/errors.ts'
import { withoutControls } from './plain-text.ts'

/** Message for the person at the terminal, printed as it stands: a sentence that says what to do. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
}

/** The server has given up what was sent of an upload. It may take it the next time, or refuse it for good. */
export class UploadGivenUp extends ClientError {}

/** No answer came: the connection could not be made, broke, or was idle for too long. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'

  /** Whether it may go better the next time: not so with a certificate that is not valid. */
  readonly passes: boolean
  /** Whether the server has surely seen nothing of the request. */
  readonly isUnsent: boolean

  constructor(
    message: string,
    { passes, isUnsent, cause }: { passes: boolean; isUnsent: boolean; cause?: unknown },
  ) {
    super(message, { cause })
    this.passes = passes
    this.isUnsent = isUnsent
  }
}

/** An answer came, and it is no success. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError'

  constructor(
    message: string,
    readonly status: number,
    /** Holdfast's own code; null when the answer is of something that stands before it, such as a proxy. */
    readonly code: string | null,
    /** Seconds until trying again makes sense. */
    readonly retryAfter: number | null,
  ) {
    // Somebody else's words, for a terminal.
    super(withoutControls(message))
  }
}

export function isAnswer(
  error: unknown,
  status: number,
  ...codes: readonly ErrorCode[]
): error is AnswerError {
  if (!(error instanceof AnswerError) || error.status !== status) return false
  return codes.length === 0 || codes.some((code) => code === error.code)
}

/** A failure of the local disk in words; null for other errors. */
export function explainLocal(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || !('path' in error)) return null
  const path = String(error.path)
  switch (error.code) {
    case 'ENOENT':
      return `${path} does not exist.`
    case 'EACCES':
    case 'EPERM':
      return `access to ${path} is denied.`
    case 'EISDIR':
      return `${path} is a folder.`
    case 'ENOTDIR':
    case 'EEXIST':
      return `${path} is not a folder.`
    case 'ENOSPC':
    case 'EDQUOT':
      return `the disk under ${path} is full.`
    case 'EROFS':
      return `${path} is on a read-only disk.`
    default:
      return null
  }
}

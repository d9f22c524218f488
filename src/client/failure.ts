import type { ErrorCode } from '../domain/errors.ts'

/** Printed to the user as it is: a sentence that says what to do. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
}

/** The server discarded the upload. It may accept it next time, or refuse it for good. */
export class UploadGivenUp extends ClientError {}

/** No answer: connecting failed, the connection broke, or it was idle for too long. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'

  /** False for an invalid certificate. */
  readonly passes: boolean
  /** The server certainly saw nothing of the request. */
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

export class AnswerError extends Error {
  override readonly name = 'AnswerError'

  constructor(
    message: string,
    readonly status: number,
    readonly code: string | null,
    /** Seconds. */
    readonly retryAfter: number | null,
  ) {
    // Foreign text, shown on a terminal.
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

/** Control characters, which terminals obey, and those that change text direction. */
const INVISIBLE = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu
const UNSEEN_IN_LINES = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

export function withoutControls(text: string): string {
  return text.replace(INVISIBLE, '')
}

export function plainLines(text: string): string {
  return text.replace(UNSEEN_IN_LINES, '')
}

export function plainJson(value: unknown): string {
  return JSON.stringify(value).replace(
    INVISIBLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

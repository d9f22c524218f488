/**
 * Closed list of errors that callers are told. Codes are the contract; messages are for people. The HTTP
 * status of each code is in `server/errors.ts`.
 */
export const ERROR_CODES = [
  'INVALID_REQUEST',
  'INVALID_NAME',
  'UNKNOWN_FIELD',
  'INVALID_DESTINATION',
  'MAX_DEPTH_EXCEEDED',
  'REQUEST_TIMEOUT',
  'INVALID_API_KEY',
  'NOT_SIGNED_IN',
  'FOREIGN_ORIGIN',
  'WRONG_CODE',
  'NOT_IDENTIFIED',
  'REAUTHENTICATION_REQUIRED',
  'WEAK_PASSWORD',
  'SIGN_UP_CLOSED',
  'INVITATION_NEEDED',
  'INVALID_LINK',
  'ADMIN_NEEDED',
  'LAST_ADMINISTRATOR',
  'MAIL_DISABLED',
  'ADDRESS_TAKEN',
  'ACCOUNT_DISABLED',
  'SCOPE_MISSING',
  'GUEST_UPLOADS_DISABLED',
  'PASSWORD_REQUIRED',
  'WRONG_PASSWORD',
  'INVALID_TOKEN',
  'NOT_FOUND',
  'FILE_NOT_FOUND',
  'FILE_ARRIVING',
  'FOLDER_NOT_FOUND',
  'LINK_NOT_FOUND',
  'LINK_ENDED',
  'LINK_USED_UP',
  'UPLOAD_IS_FINAL',
  'UPLOAD_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'DUPLICATE_NAME',
  'OFFSET_CONFLICT',
  'REQUEST_UNDER_WAY',
  'UPLOAD_GONE',
  'PRECONDITION_FAILED',
  'PAYLOAD_TOO_LARGE',
  'FILE_TOO_LARGE',
  'STORAGE_LIMIT_EXCEEDED',
  'CONTENT_REFUSED',
  'UNSUPPORTED_MEDIA_TYPE',
  'RANGE_NOT_SATISFIABLE',
  'IDEMPOTENCY_MISMATCH',
  'UPLOAD_LOCKED',
  'RATE_LIMITED',
  'CHECKSUM_MISMATCH',
  'INTERNAL_ERROR',
  'FILE_DAMAGED',
  'STORAGE_UNAVAILABLE',
  'DATABASE_UNAVAILABLE',
  'SERVER_BUSY',
  'SHUTTING_DOWN',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/**
 * Causes of STORAGE_UNAVAILABLE: no free space, none left for guests, the store cannot be used, the store
 * denies access.
 */
export const STORAGE_REASONS = ['full', 'guests', 'away', 'refused'] as const

export type StorageReason = (typeof STORAGE_REASONS)[number]

/** A secret that can be tried, in the words of the security log: nothing in them opens anything or names anybody. */
export type TriedSecret = 'sign-in' | 'key' | 'metrics token' | `password of ${'folder' | 'link'} ${number}`

/** A try of a secret that was refused, for the security log and the audit log. */
export interface RefusedTry {
  readonly secret: TriedSecret
  /** User name of the account whose secret it is; null where there is none. */
  readonly username: string | null
  /** `locked`: too many tries came before; `locked out`: the first that is refused for that in its window. */
  readonly outcome: 'refused' | 'locked' | 'locked out'
}

interface RefusalOptions extends ErrorOptions {
  readonly reason?: StorageReason
  readonly refusedTry?: RefusedTry
}

/** An error for the caller. The message says what to do; it contains no paths, no SQL, no secrets. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** Cause that programs tell apart; null where the code says it all. */
  readonly reason: StorageReason | null
  /** The try that it refuses; null for all that is no guess. */
  readonly refusedTry: RefusedTry | null

  constructor(
    readonly code: ErrorCode,
    message: string,
    /** Seconds until a retry makes sense; sent as `Retry-After`. */
    readonly retryAfter?: number,
    options: RefusalOptions = {},
  ) {
    super(message, options)
    this.reason = options.reason ?? null
    this.refusedTry = options.refusedTry ?? null
  }
}

/** The refusal of a secret that is not right. */
export function wrongSecret(
  code: 'INVALID_API_KEY' | 'WRONG_PASSWORD' | 'WRONG_CODE' | 'NOT_IDENTIFIED',
  message: string,
  secret: TriedSecret,
  username: string | null = null,
): Refusal {
  return new Refusal(code, message, undefined, { refusedTry: { secret, username, outcome: 'refused' } })
}

export function preconditionFailed(message: string): Refusal {
  return new Refusal('PRECONDITION_FAILED', message)
}

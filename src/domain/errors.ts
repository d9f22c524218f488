/** Closed list of errors that callers are told, with their HTTP statuses. Codes are the contract; messages are for people. */
export const ERROR_STATUSES = {
  INVALID_REQUEST: 400,
  INVALID_NAME: 400,
  UNKNOWN_FIELD: 400,
  INVALID_DESTINATION: 400,
  MAX_DEPTH_EXCEEDED: 400,
  REQUEST_TIMEOUT: 400,
  INVALID_API_KEY: 401,
  NOT_SIGNED_IN: 401,
  FOREIGN_ORIGIN: 403,
  WRONG_CODE: 403,
  NOT_IDENTIFIED: 403,
  REAUTHENTICATION_REQUIRED: 403,
  WEAK_PASSWORD: 400,
  SIGN_UP_CLOSED: 403,
  INVITATION_NEEDED: 403,
  INVALID_LINK: 404,
  ADMIN_NEEDED: 403,
  LAST_ADMINISTRATOR: 409,
  MAIL_DISABLED: 403,
  ADDRESS_TAKEN: 409,
  ACCOUNT_DISABLED: 403,
  SCOPE_MISSING: 403,
  GUEST_UPLOADS_DISABLED: 403,
  PASSWORD_REQUIRED: 403,
  WRONG_PASSWORD: 403,
  INVALID_TOKEN: 403,
  NOT_FOUND: 404,
  FILE_NOT_FOUND: 404,
  FILE_ARRIVING: 404,
  FOLDER_NOT_FOUND: 404,
  LINK_NOT_FOUND: 404,
  LINK_ENDED: 404,
  LINK_USED_UP: 404,
  UPLOAD_IS_FINAL: 403,
  UPLOAD_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  DUPLICATE_NAME: 409,
  LINK_HAS_TERMS: 409,
  OFFSET_CONFLICT: 409,
  REQUEST_UNDER_WAY: 409,
  UPLOAD_GONE: 410,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  FILE_TOO_LARGE: 413,
  STORAGE_LIMIT_EXCEEDED: 413,
  CONTENT_REFUSED: 403,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RANGE_NOT_SATISFIABLE: 416,
  IDEMPOTENCY_MISMATCH: 422,
  UPLOAD_LOCKED: 423,
  RATE_LIMITED: 429,
  CHECKSUM_MISMATCH: 460,
  INTERNAL_ERROR: 500,
  FILE_DAMAGED: 500,
  STORAGE_UNAVAILABLE: 503,
  DATABASE_UNAVAILABLE: 503,
  SERVER_BUSY: 503,
  SHUTTING_DOWN: 503,
} as const

export type ErrorCode = keyof typeof ERROR_STATUSES

export const ERROR_CODES = Object.keys(ERROR_STATUSES) as readonly ErrorCode[]

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

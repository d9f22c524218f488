/**
 * The closed list of what can go wrong for a caller. Codes are the contract; messages are for people.
 * Which HTTP status a code gets is decided in `http/errors.ts`.
 */
export type ErrorCode =
  | 'INVALID_REQUEST'
  | 'INVALID_NAME'
  | 'UNKNOWN_FIELD'
  | 'INVALID_DESTINATION'
  | 'MAX_DEPTH_EXCEEDED'
  | 'INVALID_API_KEY'
  | 'NOT_SIGNED_IN'
  | 'FOREIGN_ORIGIN'
  | 'WRONG_CODE'
  | 'NOT_IDENTIFIED'
  | 'REAUTHENTICATION_REQUIRED'
  | 'WEAK_PASSWORD'
  | 'SIGN_UP_CLOSED'
  | 'INVITATION_NEEDED'
  | 'INVALID_LINK'
  | 'ADMIN_NEEDED'
  | 'LAST_ADMINISTRATOR'
  | 'MAIL_DISABLED'
  | 'ADDRESS_TAKEN'
  | 'ACCOUNT_DISABLED'
  | 'SCOPE_MISSING'
  | 'GUEST_UPLOADS_DISABLED'
  | 'PASSWORD_REQUIRED'
  | 'WRONG_PASSWORD'
  | 'INVALID_TOKEN'
  | 'NOT_FOUND'
  | 'FILE_NOT_FOUND'
  | 'FILE_ARRIVING'
  | 'FOLDER_NOT_FOUND'
  | 'UPLOAD_NOT_FOUND'
  | 'UPLOAD_GONE'
  | 'UPLOAD_IS_FINAL'
  | 'UPLOAD_LOCKED'
  | 'OFFSET_CONFLICT'
  | 'CHECKSUM_MISMATCH'
  | 'REQUEST_UNDER_WAY'
  | 'IDEMPOTENCY_MISMATCH'
  | 'METHOD_NOT_ALLOWED'
  | 'DUPLICATE_NAME'
  | 'PRECONDITION_FAILED'
  | 'REQUEST_TIMEOUT'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'PAYLOAD_TOO_LARGE'
  | 'FILE_TOO_LARGE'
  | 'STORAGE_LIMIT_EXCEEDED'
  | 'CONTENT_REFUSED'
  | 'RANGE_NOT_SATISFIABLE'
  | 'RATE_LIMITED'
  | 'STORAGE_UNAVAILABLE'
  | 'DATABASE_UNAVAILABLE'
  | 'SERVER_BUSY'
  | 'SHUTTING_DOWN'
  | 'INTERNAL_ERROR'
  | 'FILE_DAMAGED'

/** A refusal that the caller is told about. The message says what to do; it holds no paths, no SQL, no secrets. */
export class Refusal extends Error {
  override readonly name = 'Refusal'

  constructor(
    readonly code: ErrorCode,
    message: string,
    /** Seconds until trying again makes sense; sent as `Retry-After`. */
    readonly retryAfter?: number,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

import type { ErrorBody } from '../contract/errors.ts'
import type { ErrorCode, Refusal } from '../domain/errors.ts'
import { jsonResponse } from './answers/known-body.ts'

const statuses = {
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
} as const satisfies Record<ErrorCode, number>

export function statusOf(code: ErrorCode): number {
  return statuses[code]
}

export function errorResponse(refusal: Refusal): Response {
  const { message, code: error, reason } = refusal
  const body: ErrorBody = { success: false, message, error, ...(reason === null ? {} : { reason }) }
  return jsonResponse(body, { status: statuses[refusal.code], headers: errorHeaders(refusal) })
}

export function errorHeaders(refusal: Refusal): Headers {
  const headers = new Headers({ 'Cache-Control': 'private, no-store' })
  if (refusal.code === 'INVALID_API_KEY') headers.set('WWW-Authenticate', 'Bearer')
  if (refusal.code === 'NOT_SIGNED_IN') headers.set('WWW-Authenticate', 'Session')
  if (refusal.retryAfter !== undefined) headers.set('Retry-After', String(refusal.retryAfter))
  return headers
}

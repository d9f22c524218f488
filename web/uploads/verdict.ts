import { type FailedAnswer, mayPass, refusesBody } from '../../src/client/policy/upload-policy.ts'
import type { PageAnswer } from './answers.ts'

/** Final: an automatic retry would change nothing. */
export type UploadProblem =
  /** In bytes. */
  | { readonly kind: 'too-large'; readonly limit: number }
  | { readonly kind: 'guests-off' }
  | { readonly kind: 'account-full' }
  | { readonly kind: 'signed-out' }
  /** The account may not upload, or not to this folder. */
  | { readonly kind: 'not-allowed' }
  | { readonly kind: 'content-refused' }
  | { readonly kind: 'folder-gone' }
  /** The upload link has ended, takes no more files or not this type, or its owner has no space. */
  | { readonly kind: 'link-over' | 'link-full' | 'link-kind' | 'link-no-space' }
  /** The transfer was deleted, has ended, or was downloaded as often as its link allows. */
  | { readonly kind: 'transfer-over' }
  /** Unreadable here: missing, a broken link, or no permission. */
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'changed' }
  /** The server's bytes are of a file alike in name, size and date. */
  | { readonly kind: 'other-content' }
  /** Interrupted for longer than the server keeps uploads. */
  | { readonly kind: 'expired' }
  /** A proxy refuses even the smallest chunk. */
  | { readonly kind: 'proxy' }
  | { readonly kind: 'not-stored' }
  /** The server has repeatedly discarded the upload. */
  | { readonly kind: 'storage-refuses' }
  | { readonly kind: 'refused'; readonly code: string }

export type Reason =
  | 'offline'
  /** No answer, or a gateway's. */
  | 'unreachable'
  | 'restarting'
  | 'broken'
  /** The server's disk is full. */
  | 'full'
  /** The guests' quota is used up. */
  | 'guests-full'
  | 'storage-away'
  | 'slow'
  /** The hourly limit of uploads is used up. */
  | 'rate'

export type FailureVerdict =
  | { readonly kind: 'again'; readonly reason: Reason; readonly seconds: number | null }
  /** A proxy refused the body as too large. */
  | { readonly kind: 'smaller' }
  /** The server has no such upload any more. */
  | { readonly kind: 'anew' }
  | { readonly kind: 'over'; readonly problem: UploadProblem }

interface Circumstances {
  /** Bytes per file. */
  readonly limit: number
  /** `navigator.onLine`. */
  readonly isOnline: boolean
  readonly by?: 'upload link' | 'transfer' | null
}

/** Temporary failures are retried without end. */
export function classifyFailure(
  answer: PageAnswer | null,
  { limit, isOnline, by = null }: Circumstances,
): FailureVerdict {
  if (answer === null) return again(isOnline ? 'unreachable' : 'offline', null)
  const { code, retryAfter } = answer
  if (refusesBody(answer)) return { kind: 'smaller' }
  if (code === 'UPLOAD_NOT_FOUND' || code === 'UPLOAD_GONE') return { kind: 'anew' }
  // The page came from the server, so the address is right.
  if (mayPass(answer, true)) return again(reasonOf(answer), retryAfter)
  return { kind: 'over', problem: problemOf(answer, limit, by) }
}

function again(reason: Reason, seconds: number | null): FailureVerdict {
  return { kind: 'again', reason, seconds }
}

function reasonOf({ status, code, reason }: PageAnswer): Reason {
  if (status === 429) return 'rate'
  // A gateway without its server, or a captive portal.
  if (code === null) return 'unreachable'
  if (code === 'STORAGE_UNAVAILABLE') {
    if (reason === 'guests') return 'guests-full'
    return reason === 'full' ? 'full' : 'storage-away'
  }
  if (code === 'SHUTTING_DOWN' || code === 'DATABASE_UNAVAILABLE') return 'restarting'
  return status === 408 || code === 'REQUEST_TIMEOUT' ? 'slow' : 'broken'
}

const BY_CODE: Readonly<Record<string, UploadProblem>> = {
  STORAGE_LIMIT_EXCEEDED: { kind: 'account-full' },
  GUEST_UPLOADS_DISABLED: { kind: 'guests-off' },
  NOT_SIGNED_IN: { kind: 'signed-out' },
  INVALID_API_KEY: { kind: 'signed-out' },
  ACCOUNT_DISABLED: { kind: 'not-allowed' },
  SCOPE_MISSING: { kind: 'not-allowed' },
  CONTENT_REFUSED: { kind: 'content-refused' },
  FOLDER_NOT_FOUND: { kind: 'folder-gone' },
}

const OF_LINKS: Readonly<Record<string, UploadProblem>> = {
  // The page has refused files over the link's limit per file, so this one exceeds what is left of the link.
  FILE_TOO_LARGE: { kind: 'link-full' },
  STORAGE_LIMIT_EXCEEDED: { kind: 'link-no-space' },
  LINK_USED_UP: { kind: 'link-full' },
  LINK_ENDED: { kind: 'link-over' },
  LINK_NOT_FOUND: { kind: 'link-over' },
  UNSUPPORTED_MEDIA_TYPE: { kind: 'link-kind' },
}

const OF_TRANSFERS: Readonly<Record<string, UploadProblem>> = {
  NOT_FOUND: { kind: 'transfer-over' },
  FOLDER_NOT_FOUND: { kind: 'transfer-over' },
  LINK_USED_UP: { kind: 'transfer-over' },
  LINK_ENDED: { kind: 'transfer-over' },
}

function problemOf(
  { status, code }: FailedAnswer,
  limit: number,
  by: NonNullable<Circumstances['by']> | null,
): UploadProblem {
  if (code === null) return { kind: 'refused', code: `HTTP ${status}` }
  const special = by === null ? undefined : (by === 'transfer' ? OF_TRANSFERS : OF_LINKS)[code]
  if (special === undefined && code === 'FILE_TOO_LARGE') return { kind: 'too-large', limit }
  return special ?? BY_CODE[code] ?? { kind: 'refused', code }
}

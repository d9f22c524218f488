import { type FailedAnswer, mayPass, refusesBody } from '../../src/client/policy/retry-policy.ts'
import type { PageAnswer } from './answers.ts'

/** Why an upload is over, or never began: trying again by itself would change nothing. */
export type UploadProblem =
  /** More than `limit` bytes. */
  | { readonly kind: 'too-large'; readonly limit: number }
  | { readonly kind: 'guests-off' }
  /** The account has no space left for it. */
  | { readonly kind: 'account-full' }
  | { readonly kind: 'signed-out' }
  /** The account may not upload, or not there. */
  | { readonly kind: 'not-allowed' }
  /** This very content was taken down. */
  | { readonly kind: 'content-refused' }
  | { readonly kind: 'folder-gone' }
  /** The link by which it goes has ended, takes no more, or not this kind of file, or there is no space where it leads. */
  | { readonly kind: 'link-over' | 'link-full' | 'link-kind' | 'link-no-space' }
  /** Nobody can read it here: it is gone, a link that leads nowhere, or a right is missing. */
  | { readonly kind: 'unreadable' }
  /** The file was changed or removed while it was being sent. */
  | { readonly kind: 'changed' }
  /** What is on the server is of another file, which is alike in name, size and date. */
  | { readonly kind: 'other-content' }
  /** It was interrupted for longer than the server keeps what has arrived. */
  | { readonly kind: 'expired' }
  /** Whatever stands before the server refuses even the smallest piece. */
  | { readonly kind: 'proxy' }
  /** All bytes were sent, and the server could not keep them. */
  | { readonly kind: 'not-stored' }
  /** The server has given it up again and again. */
  | { readonly kind: 'storage-refuses' }
  | { readonly kind: 'refused'; readonly code: string }

/** Why an upload waits. It is tried again by itself. */
export type Reason =
  /** This device has no network. */
  | 'offline'
  /** Nobody answers, or a gateway answers for the server. */
  | 'unreachable'
  | 'restarting'
  /** The server failed. */
  | 'broken'
  /** The server has no free space. */
  | 'full'
  /** The space for uploads without an account is used up. */
  | 'guests-full'
  /** The server cannot use its storage. */
  | 'storage-away'
  /** The connection stood still for too long. */
  | 'slow'
  /** The uploads of an hour are used up. */
  | 'rate'

export type FailureVerdict =
  | { readonly kind: 'again'; readonly reason: Reason; readonly seconds: number | null }
  /** Something before the server took the body for too large. */
  | { readonly kind: 'smaller' }
  /** The server does not know the upload any more. */
  | { readonly kind: 'anew' }
  | { readonly kind: 'over'; readonly problem: UploadProblem }

interface Circumstances {
  /** Bytes that one file may have. */
  readonly limit: number
  /** What the browser says of the network of this device. */
  readonly isOnline: boolean
  /** Whether it goes by an upload link. */
  readonly byLink?: boolean
}

/** What to do after a request that failed, and what to call it. What may pass by itself is tried for ever. */
export function classifyFailure(
  answer: PageAnswer | null,
  { limit, isOnline, byLink = false }: Circumstances,
): FailureVerdict {
  if (answer === null) return again(isOnline ? 'unreachable' : 'offline', null)
  const { code, retryAfter } = answer
  if (refusesBody(answer)) return { kind: 'smaller' }
  if (code === 'UPLOAD_NOT_FOUND' || code === 'UPLOAD_GONE') return { kind: 'anew' }
  // The page came from the server, so the address is right.
  if (mayPass(answer, true)) return again(reasonOf(answer), retryAfter)
  return { kind: 'over', problem: problemOf(answer, limit, byLink) }
}

function again(reason: Reason, seconds: number | null): FailureVerdict {
  return { kind: 'again', reason, seconds }
}

function reasonOf({ status, code, reason }: PageAnswer): Reason {
  if (status === 429) return 'rate'
  // A gateway without its server, a captive portal that answers in its place.
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
  // The page has refused what no file by this link may have, so it is more than the link still takes.
  FILE_TOO_LARGE: { kind: 'link-full' },
  STORAGE_LIMIT_EXCEEDED: { kind: 'link-no-space' },
  LINK_USED_UP: { kind: 'link-full' },
  LINK_ENDED: { kind: 'link-over' },
  LINK_NOT_FOUND: { kind: 'link-over' },
  UNSUPPORTED_MEDIA_TYPE: { kind: 'link-kind' },
}

function problemOf({ status, code }: FailedAnswer, limit: number, byLink: boolean): UploadProblem {
  if (code === null) return { kind: 'refused', code: `HTTP ${status}` }
  const ofLink = byLink ? OF_LINKS[code] : undefined
  if (ofLink === undefined && code === 'FILE_TOO_LARGE') return { kind: 'too-large', limit }
  return ofLink ?? BY_CODE[code] ?? { kind: 'refused', code }
}

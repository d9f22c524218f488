import type { Answer } from './answers.ts'

/** Why an upload is over, or never began: trying again by itself would change nothing. */
export type Problem =
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
  /** The file was changed or removed while it was being sent. */
  | { readonly kind: 'changed' }
  /** It was interrupted for longer than the server keeps what has arrived. */
  | { readonly kind: 'expired' }
  /** Whatever stands before the server refuses even the smallest piece. */
  | { readonly kind: 'proxy' }
  /** All bytes were sent, and the server could not keep them. */
  | { readonly kind: 'not-stored' }
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
  /** The server's disk is full, or its storage is out of reach. */
  | 'full'
  /** The connection stood still for too long. */
  | 'slow'
  /** The uploads of an hour are used up. */
  | 'rate'

export type Verdict =
  | { readonly kind: 'again'; readonly reason: Reason; readonly seconds: number | null }
  /** Something before the server took the body for too large. */
  | { readonly kind: 'smaller' }
  /** The server does not know the upload any more. */
  | { readonly kind: 'anew' }
  | { readonly kind: 'over'; readonly problem: Problem }

interface Circumstances {
  /** Bytes that one file may have. */
  readonly limit: number
  /** What the browser says of the network of this device. */
  readonly isOnline: boolean
}

/** What to do after a request that failed, and what to call it. What may pass by itself is tried for ever. */
export function judge(answer: Answer | null, { limit, isOnline }: Circumstances): Verdict {
  if (answer === null) return again(isOnline ? 'unreachable' : 'offline', null)
  const { status, code, retryAfter } = answer
  if (code === null && status === 413) return { kind: 'smaller' }
  if (code === 'UPLOAD_NOT_FOUND' || code === 'UPLOAD_GONE') return { kind: 'anew' }
  if (status === 429) return again('rate', retryAfter)
  const problem = code === null ? strangerProblem(status) : problemOf(status, code, limit)
  return problem === null ? again(reasonOf(status, code), retryAfter) : { kind: 'over', problem }
}

function again(reason: Reason, seconds: number | null): Verdict {
  return { kind: 'again', reason, seconds }
}

function reasonOf(status: number, code: string | null): Reason {
  // A gateway without its server, a captive portal that answers in its place.
  if (code === null) return 'unreachable'
  if (code === 'STORAGE_UNAVAILABLE') return 'full'
  if (code === 'SHUTTING_DOWN' || code === 'DATABASE_UNAVAILABLE') return 'restarting'
  return status === 408 ? 'slow' : 'broken'
}

/** Of these a server that is not ours, or is out of reach behind one, may think better. */
const PASSING = [404, 408, 409, 410, 421, 423, 425]

function strangerProblem(status: number): Problem | null {
  const isRefusal = status >= 400 && status < 500 && !PASSING.includes(status)
  return isRefusal ? { kind: 'refused', code: `HTTP ${status}` } : null
}

const BY_CODE: Readonly<Record<string, Problem>> = {
  STORAGE_LIMIT_EXCEEDED: { kind: 'account-full' },
  GUEST_UPLOADS_DISABLED: { kind: 'guests-off' },
  NOT_SIGNED_IN: { kind: 'signed-out' },
  INVALID_API_KEY: { kind: 'signed-out' },
  ACCOUNT_DISABLED: { kind: 'not-allowed' },
  SCOPE_MISSING: { kind: 'not-allowed' },
  CONTENT_REFUSED: { kind: 'content-refused' },
  FOLDER_NOT_FOUND: { kind: 'folder-gone' },
}

function problemOf(status: number, code: string, limit: number): Problem | null {
  if (code === 'FILE_TOO_LARGE') return { kind: 'too-large', limit }
  const known = BY_CODE[code]
  if (known !== undefined) return known
  const passes = status >= 500 || status === 408 || status === 409 || status === 423
  return passes ? null : { kind: 'refused', code }
}

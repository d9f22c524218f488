import type { Answer } from './answers.ts'

/** Why an upload is over, or never began. */
export type Problem =
  /** More than `limit` bytes. */
  | { readonly kind: 'too-large'; readonly limit: number }
  | { readonly kind: 'guests-off' }
  /** No room is left for it on the server. */
  | { readonly kind: 'no-room' }
  /** The file was changed or removed while it was being sent. */
  | { readonly kind: 'changed' }
  /** It was interrupted for longer than the server keeps what has arrived. */
  | { readonly kind: 'expired' }
  /** Whatever stands before the server refuses even the smallest piece. */
  | { readonly kind: 'proxy' }
  | { readonly kind: 'refused'; readonly code: string }

export type Reason =
  /** Nobody answers. */
  | 'network'
  /** The server asks for patience. */
  | 'busy'
  /** The uploads of an hour are used up. */
  | 'rate'

export type Verdict =
  | { readonly kind: 'again'; readonly reason: Reason; readonly seconds: number | null }
  /** Something before the server took the body for too large. */
  | { readonly kind: 'smaller' }
  /** The server does not know the upload any more. */
  | { readonly kind: 'anew' }
  | { readonly kind: 'over'; readonly problem: Problem }

/** What to do after a request that failed. What may pass by itself is tried for ever. */
export function judge(answer: Answer | null, limit: number): Verdict {
  if (answer === null) return { kind: 'again', reason: 'network', seconds: null }
  const { status, code, retryAfter } = answer
  if (code === null && status === 413) return { kind: 'smaller' }
  if (code === 'UPLOAD_NOT_FOUND' || code === 'UPLOAD_GONE') return { kind: 'anew' }
  if (status === 429) return { kind: 'again', reason: 'rate', seconds: retryAfter }
  const problem = code === null ? strangerProblem(status) : problemOf(status, code, limit)
  if (problem !== null) return { kind: 'over', problem }
  // A gateway without its server, a server that restarts, a captive portal that answers in its place.
  return { kind: 'again', reason: 'busy', seconds: retryAfter }
}

/** Of these a server that is not ours, or is out of reach behind one, may think better. */
const PASSING = [404, 408, 409, 410, 421, 423, 425]

function strangerProblem(status: number): Problem | null {
  const isRefusal = status >= 400 && status < 500 && !PASSING.includes(status)
  return isRefusal ? { kind: 'refused', code: `HTTP ${status}` } : null
}

function problemOf(status: number, code: string, limit: number): Problem | null {
  if (code === 'FILE_TOO_LARGE') return { kind: 'too-large', limit }
  if (code === 'STORAGE_LIMIT_EXCEEDED') return { kind: 'no-room' }
  if (code === 'GUEST_UPLOADS_DISABLED') return { kind: 'guests-off' }
  const passes = status >= 500 || status === 408 || status === 409 || status === 423
  return passes ? null : { kind: 'refused', code }
}

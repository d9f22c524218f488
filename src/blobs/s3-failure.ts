import { StoreFailure, type StoreFailureReason } from './blob-store.ts'
import { isErrorDocument, text } from './s3-xml.ts'

/** A request that did not get what it asked for. */
export class S3Failure extends Error {
  override readonly name = 'S3Failure'

  constructor(
    /** Of the answer; null when there was none, or none to the end. */
    readonly status: number | null,
    /** S3's name for it, `NoSuchKey` for one; empty where the answer gave none. */
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** What the store says against a request. `what` names the request, for the log. */
export function failureOf(what: string, status: number, body: string): S3Failure {
  const code = (isErrorDocument(body) ? text(body, 'Code') : null) ?? ''
  const detail = text(body, 'Message')
  const said = [code, detail].filter(Boolean).join(': ')
  return new S3Failure(status, code, `${what} was answered ${status}${said === '' ? '' : ` (${said})`}`)
}

/** The store could not be reached, or stopped in the middle. */
export function noAnswer(what: string, cause: unknown): S3Failure {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new S3Failure(null, '', `${what} got no answer: ${reason}`, { cause })
}

const AWAY_STATUSES = new Set([408, 429, 500, 502, 503, 504])
/** Also said with a status of 200, when the trouble comes after the first byte of the answer. */
const AWAY_CODES = new Set([
  'InternalError',
  'ServiceUnavailable',
  'SlowDown',
  'RequestTimeout',
  'Throttling',
])
/** What arrived is not what was sent: the way there is at fault, and may do better next time. */
const SPOILED_CODES = new Set(['BadDigest', 'IncompleteBody', 'XAmzContentSHA256Mismatch'])
/** There is no room for that: MinIO, Ceph and others say so in their own words, Ceph with a status of 403. */
const FULL_CODES = new Set([
  'QuotaExceeded',
  'EntityTooLarge',
  'InsufficientStorage',
  'XMinioStorageFull',
  'XMinioAdminBucketQuotaExceeded',
])
const REFUSED_CODES = new Set(['NoSuchBucket', 'PermanentRedirect', 'AuthorizationHeaderMalformed'])

/** Whether the same request may well succeed a little later. All requests of ours may be repeated. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof S3Failure)) return false
  return isAway(error) || SPOILED_CODES.has(error.code)
}

/** What a caller of the store is told; anything but the store's own failures comes back as it is. */
export function asStoreFailure(error: unknown): unknown {
  if (!(error instanceof S3Failure)) return error
  return new StoreFailure(reasonOf(error), { cause: error })
}

/** Runs the work; the store's failures come out of it as StoreFailure. */
export async function failing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asStoreFailure(error)
  }
}

function isAway({ status, code }: S3Failure): boolean {
  return status === null || AWAY_STATUSES.has(status) || AWAY_CODES.has(code)
}

function reasonOf(failure: S3Failure): StoreFailureReason {
  const { status, code } = failure
  if (FULL_CODES.has(code) || status === 507) return 'full'
  if (isAway(failure)) return 'away'
  if (status === 301 || status === 401 || status === 403 || REFUSED_CODES.has(code)) return 'refused'
  return 'broken'
}

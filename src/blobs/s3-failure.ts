import { InvariantViolated } from '../domain/invariants.ts'
import { BlobRefused, StoreFailure, type StoreFailureReason } from './blob-store.ts'
import { isErrorDocument, text } from './s3-xml.ts'

/** A request that failed. */
export class S3Failure extends Error {
  override readonly name = 'S3Failure'

  constructor(
    /** Status of the answer; null when there was none, or an incomplete one. */
    readonly status: number | null,
    /** Error code of S3, such as `NoSuchKey`; empty where the answer has none. */
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** The store answers nothing at all. There is no use in trying again before it does. */
export class S3Silent extends S3Failure {
  constructor() {
    super(null, '', 'the store does not answer')
  }
}

/** The failure that an answer reports. `what` names the request, for the log. */
export function failureOf(what: string, status: number, body: string): S3Failure {
  const code = (isErrorDocument(body) ? text(body, 'Code') : null) ?? ''
  const detail = text(body, 'Message')
  const said = [code, detail].filter(Boolean).join(': ')
  return new S3Failure(status, code, `${what} was answered ${status}${said === '' ? '' : ` (${said})`}`)
}

/** The store could not be reached, or the connection broke. `what` names the request, for the log. */
export function noAnswer(what: string, cause: unknown): S3Failure {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new S3Failure(null, '', `${what} got no answer: ${reason}`, { cause })
}

const AWAY_STATUSES = new Set([408, 429, 500, 502, 503, 504])
/** Also sent with status 200, when the failure comes after the head of the answer. */
const AWAY_CODES = new Set([
  'InternalError',
  'ServiceUnavailable',
  'SlowDown',
  'RequestTimeout',
  'Throttling',
])
/** The store received other bytes than were sent: a fault of the network, probably transient. */
const CORRUPTED_CODES = new Set(['BadDigest', 'IncompleteBody', 'XAmzContentSHA256Mismatch'])
/** Whether the store received other bytes than were announced. */
export function isAboutBytes({ code }: S3Failure): boolean {
  return CORRUPTED_CODES.has(code)
}

/** Out of space. MinIO, Ceph and others have codes of their own, Ceph with status 403. */
const FULL_CODES = new Set([
  'QuotaExceeded',
  'EntityTooLarge',
  'InsufficientStorage',
  'XMinioStorageFull',
  'XMinioAdminBucketQuotaExceeded',
])
const REFUSED_CODES = new Set(['NoSuchBucket', 'PermanentRedirect', 'AuthorizationHeaderMalformed'])

/** Whether the same request may succeed a little later. All requests are idempotent. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof S3Failure)) return false
  return isAway(error) || isAboutBytes(error)
}

/** The StoreFailure for a failure of the store or a violated invariant. Any other error comes back unchanged. */
export function s3StoreFailure(error: unknown): unknown {
  if (error instanceof InvariantViolated) return new StoreFailure('broken', { cause: error })
  if (!(error instanceof S3Failure)) return error
  return new StoreFailure(reasonOf(error), { cause: error })
}

/** The same for a request that writes a blob: what the store refuses of it for good, in its own words, is BlobRefused. */
export function s3WriteFailure(error: unknown): unknown {
  // Bytes that change on the way say nothing of the blob.
  const isFinal = error instanceof S3Failure && error.code !== '' && !isAboutBytes(error)
  if (isFinal && reasonOf(error) === 'broken') {
    return new BlobRefused({ cause: error })
  }
  return s3StoreFailure(error)
}

/** Runs what writes a blob: see `s3WriteFailure`. */
export async function asS3WriteFailures<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw s3WriteFailure(error)
  }
}

/** Runs the work. Failures of the store and violated invariants become StoreFailure. */
export async function asS3Failures<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw s3StoreFailure(error)
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

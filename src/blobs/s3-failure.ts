import { InvariantViolated } from '../domain/invariants.ts'
import { BlobRefused, StoreFailure, type StoreFailureReason } from './blob-store.ts'

export class S3Failure extends Error {
  override readonly name = 'S3Failure'

  constructor(
    /** Null when there was no complete answer. */
    readonly status: number | null,
    /** Such as `NoSuchKey`; empty where the answer has none. */
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** The store answers nothing at all: retries are pointless until it does. */
export class S3Silent extends S3Failure {
  constructor() {
    super(null, '', 'the store does not answer')
  }
}

/** `what` names the request, for the log. */
export function failureOf(what: string, status: number, body: string): S3Failure {
  const code = (isErrorDocument(body) ? text(body, 'Code') : null) ?? ''
  const detail = text(body, 'Message')
  const said = [code, detail].filter(Boolean).join(': ')
  return new S3Failure(status, code, `${what} was answered ${status}${said === '' ? '' : ` (${said})`}`)
}

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
/** A network fault, probably transient. */
const CORRUPTED_CODES = new Set(['BadDigest', 'IncompleteBody', 'XAmzContentSHA256Mismatch'])
export function isAboutBytes({ code }: S3Failure): boolean {
  return CORRUPTED_CODES.has(code)
}

/** MinIO, Ceph and others have codes of their own, Ceph with status 403. */
const FULL_CODES = new Set([
  'QuotaExceeded',
  'EntityTooLarge',
  'InsufficientStorage',
  'XMinioStorageFull',
  'XMinioAdminBucketQuotaExceeded',
])
const REFUSED_CODES = new Set(['NoSuchBucket', 'PermanentRedirect', 'AuthorizationHeaderMalformed'])

/** All requests are idempotent, so a transient failure may be retried. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof S3Failure)) return false
  return isAway(error) || isAboutBytes(error)
}

/** Leaves other errors unchanged. */
export function s3StoreFailure(error: unknown): unknown {
  if (error instanceof InvariantViolated) return new StoreFailure('broken', { cause: error })
  if (!(error instanceof S3Failure)) return error
  return new StoreFailure(reasonOf(error), { cause: error })
}

/** A final refusal of the blob becomes BlobRefused. */
export function s3WriteFailure(error: unknown): unknown {
  // Corruption in transit says nothing about the blob.
  const isFinal = error instanceof S3Failure && error.code !== '' && !isAboutBytes(error)
  if (isFinal && reasonOf(error) === 'broken') {
    return new BlobRefused({ cause: error })
  }
  return s3StoreFailure(error)
}

export async function asS3WriteFailures<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw s3WriteFailure(error)
  }
}

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

/** For the few elements needed from a trusted store: no attributes, comments or CDATA. */

export function elements(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?>([\\s\\S]*?)</${name}\\s*>`, 'g'))].map(
    ([, content]) => content ?? '',
  )
}

/** Null also when it is empty. */
export function text(xml: string, name: string): string | null {
  const [content] = elements(xml, name)
  return content === undefined || content === '' ? null : decode(content)
}

export function isErrorDocument(xml: string): boolean {
  return /^\s*(?:<\?xml[^>]*\?>\s*)?<Error[\s>]/.test(xml)
}

export function encode(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

const named = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
])

function decode(content: string): string {
  return content.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return named.get(name) ?? whole
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
}

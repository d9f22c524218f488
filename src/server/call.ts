import type { Config } from '../config.ts'
import type { Caller } from '../core/callers.ts'
import type { Verdict } from '../core/rate-limits/rate-limits.ts'
import type { Shares } from '../core/shares.ts'
import type { Clock } from '../domain/clock.ts'
import { type Refusal, wrongSecret } from '../domain/errors.ts'
import type { Scope } from '../domain/scopes.ts'
import type { JsonAnswer } from './answers/known-body.ts'
import type { Hosts } from './requests/hosts.ts'
import type { SmallBodies } from './requests/small-bodies.ts'

/** Permission that a route requires of a key: a scope, or just validity. */
export type Need = Scope | 'any'

/** Server-wide state for the response to any request: settings, clock, addresses. */
export interface Site {
  readonly clock: Clock
  readonly config: Config
  /** Public address without a trailing slash. */
  readonly publicUrl: string
  /** Address for content, without a trailing slash. */
  readonly contentUrl: string
  readonly hosts: Hosts
  readonly uploadsUnderWay: UploadsUnderWay
  readonly smallBodies: SmallBodies
  /** Unpaged folder listings that are being sent. */
  readonly wholeListings: Shares
  /** Logs an unexpected failure, with the id of its request. */
  readonly report: (error: unknown, request?: string) => void
  /** The OpenAPI document. */
  readonly openApi: () => unknown
  /** The OpenAPI document in its serialized form. */
  readonly openApiAnswer: () => JsonAnswer
}

/** Lets a stopping server wait for uploads and abort those that take too long. */
export interface UploadsUnderWay {
  /** `resumable`: what came before `end` is kept, and its client goes on with the next server. */
  begin(end: (reason: Refusal) => void, kind: 'whole' | 'resumable'): () => void
  /** Number of uploads under way. */
  count(): number
}

/** A request being handled, with what is learnt about it for the log and for response headers. */
export interface Call {
  readonly site: Site
  /** Request id for the log. */
  readonly id: string
  readonly request: Request
  /** Parsed lazily: most requests need only their path. */
  readonly url: URL
  readonly params: Readonly<Record<string, string>>
  /** Permission that a key requires here; null where keys are not accepted. */
  readonly need: Need | null
  /** Maximum bytes of a body that is read into memory. */
  readonly bodyLimit: number
  /** The client's address; empty when unknown. Must be read while the connection is open. */
  readonly address: string
  /** The other end of the connection: the client, or the last proxy before this server; empty when unknown. */
  readonly peer: string
  /**
   * The client's address as rate limits count it, with IPv6 reduced to its /64. Must be read while the
   * connection is open.
   */
  readonly bucket: string
  /** Additional headers of the response. */
  readonly headers: Map<string, string>
  /** The caller, once authenticated. */
  caller: Caller | null
  /** Remaining rate limit, once counted; sent in response headers. */
  rate: Verdict | null
  /** A refusal that the caller is not told as an error: a form says so, or a wrong key makes a stranger. For the logs. */
  refusal: Refusal | null
}

/** API key from the Authorization header; null without the header. Throws Refusal when it is malformed. */
export function bearerKey(request: Request): string | null {
  const header = request.headers.get('authorization')
  if (header === null) return null
  const key = /^Bearer +([\x21-\x7e]+) *$/i.exec(header)?.[1]
  if (key === undefined) {
    throw wrongSecret('INVALID_API_KEY', 'The Authorization header must read "Bearer <API key>"', 'key')
  }
  return key
}

export const FOLDER_COOKIE = 'folder_access_token'

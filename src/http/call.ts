import type { Config } from '../config.ts'
import type { Viewer } from '../domain/access.ts'
import type { Clock } from '../domain/clock.ts'
import { HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountCaller, Caller } from '../services/caller.ts'
import type { Verdict } from '../services/rate-limits.ts'
import type { Services } from '../services/services.ts'
import { cookieValue } from './cookies.ts'
import type { Renderers } from './site/renderers.ts'

/** What every handler may use. */
export interface Site {
  readonly services: Services
  readonly clock: Clock
  readonly config: Config
  /** The public address, without a trailing slash. */
  readonly publicUrl: string
  /** Where content is served from, without a trailing slash. */
  readonly contentUrl: string
  /** Renders the pages. */
  readonly pages: Renderers
  readonly uploadsUnderWay: UploadsUnderWay
  /** Writes a failure that nobody expected to the log. */
  readonly report: (error: unknown) => void
  /** The document that describes this API. */
  readonly openApi: () => unknown
}

/** Lets a server that is stopping wait for uploads, and end those that take too long. */
export interface UploadsUnderWay {
  begin(end: (reason: Refusal) => void): () => void
}

/** One request on its way, and what is learnt about it for the log and the answer's headers. */
export interface Call {
  readonly site: Site
  readonly request: Request
  /** Read only where it is asked for: most requests need no more than their path. */
  readonly url: URL
  readonly params: Readonly<Record<string, string>>
  /** The address limits count: the client's, with IPv6 by its /64. To be asked while the connection is open. */
  readonly bucket: string
  /** Headers that the answer gets besides its own. */
  readonly headers: Map<string, string>
  /** Who asks, once it is known. */
  caller: Caller | null
}

/** The key of the Authorization header, null when there is none. Throws Refusal when it is malformed. */
export function bearerKey(request: Request): string | null {
  const header = request.headers.get('authorization')
  if (header === null) return null
  const [, key] = /^Bearer +([\x21-\x7e]+) *$/i.exec(header) ?? []
  if (key === undefined) {
    throw new Refusal('INVALID_API_KEY', 'The Authorization header must read "Bearer <API key>"')
  }
  return key
}

/** Authenticates and counts the request. Throws Refusal INVALID_API_KEY, ACCOUNT_DISABLED or RATE_LIMITED. */
export async function keyedCaller(call: Call): Promise<AccountCaller> {
  const { caller, verdict } = await authenticated(call, 1)
  if (!verdict.allowed) {
    throw new Refusal(
      'RATE_LIMITED',
      `This key may make ${verdict.limit} requests an hour; try again later`,
      verdict.resetsIn,
    )
  }
  call.site.services.usage.requested(caller)
  return caller
}

/** The caller, and what is left of the rate once so many requests more are counted. */
async function authenticated(
  call: Call,
  requests: 0 | 1,
): Promise<{ caller: AccountCaller; verdict: Verdict }> {
  const key = bearerKey(call.request)
  if (key === null) {
    throw new Refusal('INVALID_API_KEY', 'An API key is needed: send it as "Authorization: Bearer <API key>"')
  }
  const caller = await call.site.services.keys.authenticate(key)
  call.caller = caller
  const { services, config } = call.site
  const verdict = await services.rates.take(`key:${caller.key}`, requests, config.rateLimit, HOUR)
  for (const prefix of ['RateLimit', 'X-RateLimit']) {
    call.headers.set(`${prefix}-Limit`, String(verdict.limit))
    call.headers.set(`${prefix}-Remaining`, String(verdict.remaining))
    call.headers.set(`${prefix}-Reset`, String(verdict.resetsIn))
  }
  return { caller, verdict }
}

/**
 * Whether the caller of a request that was let in would be let in again. For answers that go on for long; counts nothing.
 */
export async function isStillCaller(call: Call): Promise<boolean> {
  const key = bearerKey(call.request)
  if (key === null) return false
  try {
    await call.site.services.keys.authenticate(key)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

/** With a key, its account; without any Authorization header, a guest. A bad key is never a guest. */
export async function uploadCaller(call: Call): Promise<Caller> {
  if (call.request.headers.has('authorization')) return keyedCaller(call)
  const guest = { kind: 'guest', bucket: call.bucket } as const
  call.caller = guest
  return guest
}

/** The same for a request that carries bytes of an upload: there may be any number, and none is counted. */
export async function bytesCaller(call: Call): Promise<Caller> {
  return call.request.headers.has('authorization')
    ? (await authenticated(call, 0)).caller
    : uploadCaller(call)
}

export const FOLDER_COOKIE = 'folder_access_token'

/** Who looks at a public page. A key that does not count makes nobody of the caller, not an error. */
export async function viewerOf(call: Call): Promise<Viewer> {
  const { services } = call.site
  const cookie = cookieValue(call.request, FOLDER_COOKIE)
  const grants = services.folderPasswords.grants(cookie)
  try {
    const key = bearerKey(call.request)
    if (key === null) return { account: null, grants }
    const caller = await services.keys.authenticate(key)
    call.caller = caller
    return { account: caller.account, grants }
  } catch (error) {
    if (error instanceof Refusal) return { account: null, grants }
    throw error
  }
}

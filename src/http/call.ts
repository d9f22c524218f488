import type { Config, SettingInForce } from '../config.ts'
import type { Asker } from '../domain/access.ts'
import type { Administrator } from '../domain/audit.ts'
import type { Clock } from '../domain/clock.ts'
import { HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { type AccountCaller, assertScope, type Caller, type SessionCaller } from '../services/caller.ts'
import { type KeyVerdict, takeForKey } from '../services/key-rates.ts'
import type { Verdict } from '../services/rate-limits.ts'
import type { Services } from '../services/services.ts'
import { signedOut } from '../services/sessions.ts'
import { cookieValue } from './cookies.ts'
import type { Hosts } from './hosts.ts'
import type { JsonAnswer } from './json.ts'
import type { Need } from './need.ts'
import { apiSession, pageSession, sessionToken } from './session.ts'
import type { Renderers } from './site/renderers.ts'
import type { SmallBodies } from './small-bodies.ts'

/** What every handler may use. */
export interface Site {
  readonly services: Services
  readonly clock: Clock
  readonly config: Config
  /** What of the settings may be shown to administrators. */
  readonly settings: readonly SettingInForce[]
  /** The public address, without a trailing slash. */
  readonly publicUrl: string
  /** Where content is served from, without a trailing slash. */
  readonly contentUrl: string
  readonly hosts: Hosts
  /** Renders the pages. */
  readonly pages: Renderers
  readonly uploadsUnderWay: UploadsUnderWay
  readonly smallBodies: SmallBodies
  /** Writes a failure that nobody expected to the log, with the id of the request that met it. */
  readonly report: (error: unknown, request?: string) => void
  /** The document that describes this API. */
  readonly openApi: () => unknown
  /** The same as it is sent. */
  readonly openApiAnswer: () => JsonAnswer
  /** Null where nothing is measured. */
  readonly metrics: Metrics | null
}

/** Lets a server that is stopping wait for uploads, and end those that take too long. */
export interface UploadsUnderWay {
  begin(end: (reason: Refusal) => void): () => void
  /** How many run now. */
  count(): number
}

/** One request on its way, and what is learnt about it for the log and the answer's headers. */
export interface Call {
  readonly site: Site
  /** For the log. */
  readonly id: string
  readonly request: Request
  /** Read only where it is asked for: most requests need no more than their path. */
  readonly url: URL
  readonly params: Readonly<Record<string, string>>
  /** What a key needs here; null where keys are not asked for. */
  readonly need: Need | null
  /** The client's address, empty when there is none. To be asked while the connection is open. */
  readonly address: string
  /** The address limits count: the client's, with IPv6 by its /64. To be asked while the connection is open. */
  readonly bucket: string
  /** Headers that the answer gets besides its own. */
  readonly headers: Map<string, string>
  /** Who asks, once it is known. */
  caller: Caller | null
  /** What is left to the caller, once it is counted; the answer tells it. */
  rate: Verdict | null
}

/** The key of the Authorization header, null when there is none. Throws Refusal when it is malformed. */
export function bearerKey(request: Request): string | null {
  const header = request.headers.get('authorization')
  if (header === null) return null
  const key = /^Bearer +([\x21-\x7e]+) *$/i.exec(header)?.[1]
  if (key === undefined) {
    throw new Refusal('INVALID_API_KEY', 'The Authorization header must read "Bearer <API key>"')
  }
  return key
}

/**
 * Authenticates and counts the request. Throws Refusal INVALID_API_KEY, NOT_SIGNED_IN, FOREIGN_ORIGIN, ACCOUNT_DISABLED,
 * RATE_LIMITED or SCOPE_MISSING.
 */
export async function keyedCaller(call: Call): Promise<AccountCaller> {
  const caller = await callerOf(call)
  const verdict = await counted(call, caller, 1)
  if (!verdict.allowed) throw rateLimited(caller, verdict)
  call.site.services.usage.requested(caller)
  assertNeed(call, caller)
  return caller
}

/** A route that asks for keys and says not what they need is a mistake, and lets nobody in. */
function assertNeed({ need }: Call, caller: AccountCaller): void {
  if (need === null) throw new Error('a route that takes keys does not say which')
  if (need !== 'any') assertScope(caller, need)
}

/** Who is signed in; no key will do. Throws Refusal NOT_SIGNED_IN, FOREIGN_ORIGIN, ACCOUNT_DISABLED or RATE_LIMITED. */
export async function signedInCaller(call: Call): Promise<SessionCaller> {
  const caller = await apiSession(call)
  if (caller === null) throw signedOut()
  const verdict = await counted(call, caller, 1)
  if (!verdict.allowed) throw rateLimited(caller, verdict)
  return caller
}

/** The same for administrators. Throws also Refusal ADMIN_NEEDED. */
export async function administrator(call: Call): Promise<Administrator> {
  const { account, username, by } = await signedInCaller(call)
  if (!by.isAdmin) throw new Refusal('ADMIN_NEEDED', 'Only administrators of this server can do this')
  return { kind: 'administrator', account, username, address: call.address }
}

function rateLimited({ by }: AccountCaller, { limit, resetsIn, ceiling }: KeyVerdict): Refusal {
  const who = ceiling !== null ? 'All keys of this account together' : by.kind === 'key' ? 'This key' : 'You'
  const most = ceiling ?? limit
  return new Refusal('RATE_LIMITED', `${who} may make ${most} requests an hour; try again later`, resetsIn)
}

/** Counts so many requests more for the caller, and tells what is left of the rate. */
async function counted(call: Call, caller: AccountCaller, requests: 0 | 1): Promise<KeyVerdict> {
  call.caller = caller
  const verdict = await taken(call, caller, requests)
  call.rate = verdict
  return verdict
}

async function taken({ site }: Call, { account, by }: AccountCaller, requests: 0 | 1): Promise<KeyVerdict> {
  const { rates } = site.services
  const { rateLimit: limit, accountRateFactor: factor, sessionRateLimit } = site.config
  if (by.kind === 'key') return takeForKey(rates, { key: by.key, account }, requests, { limit, factor })
  return { ...(await rates.take(`sessions:${account}`, requests, sessionRateLimit, HOUR)), ceiling: null }
}

/** By the key, or without any Authorization header by the session. */
function callerOf(call: Call): Promise<AccountCaller> {
  const key = bearerKey(call.request)
  return key === null ? sessionCaller(call) : call.site.services.keys.authenticate(key)
}

async function sessionCaller(call: Call): Promise<AccountCaller> {
  const session = await apiSession(call)
  if (session !== null) return session
  throw new Refusal('INVALID_API_KEY', 'An API key is needed: send it as "Authorization: Bearer <API key>"')
}

/**
 * Whether the caller of a request that was let in would be let in again. For answers that go on for long; counts nothing.
 */
export async function isStillCaller(call: Call): Promise<boolean> {
  try {
    await callerOf(call)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

/** With a key or a session, its account; with neither a guest. A bad key or a session that is over is never a guest. */
export async function uploadCaller(call: Call): Promise<Caller> {
  return isKnown(call) ? keyedCaller(call) : guestCaller(call)
}

/** With a key its account, without one a guest: cookies count for nothing. */
export async function keyOrGuest(call: Call): Promise<Caller> {
  return call.request.headers.has('authorization') ? keyedCaller(call) : guestCaller(call)
}

function guestCaller(call: Call): Caller {
  const guest = { kind: 'guest', bucket: call.bucket } as const
  call.caller = guest
  return guest
}

/** The same for a request that carries bytes of an upload: there may be any number, and none is counted. */
export async function bytesCaller(call: Call): Promise<Caller> {
  if (!isKnown(call)) return uploadCaller(call)
  const caller = await callerOf(call)
  await counted(call, caller, 0)
  call.site.services.usage.used(caller)
  assertNeed(call, caller)
  return caller
}

function isKnown(call: Call): boolean {
  return call.request.headers.has('authorization') || sessionToken(call) !== null
}

export const FOLDER_COOKIE = 'folder_access_token'

/**
 * Who looks at what may be public. A key that does not count, or that may not read, makes nobody of the caller, not an
 * error.
 */
export async function askerOf(call: Call): Promise<Asker> {
  const { services } = call.site
  const cookie = cookieValue(call.request, FOLDER_COOKIE)
  const grants = services.folderPasswords.grants(cookie)
  try {
    const key = bearerKey(call.request)
    const caller = key === null ? await pageSession(call) : await services.keys.authenticate(key)
    if (caller === null) return { reach: null, grants }
    call.caller = caller
    services.usage.used(caller)
    return { reach: caller.scopes.includes('read') ? caller : null, grants }
  } catch (error) {
    if (error instanceof Refusal) return { reach: null, grants }
    throw error
  }
}

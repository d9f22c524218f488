import type { AccountCaller, Caller, SessionCaller } from '../core/callers.ts'
import type { Administrator } from '../domain/audit.ts'
import { Refusal } from '../domain/errors.ts'
import type { JsonAnswer } from './answers/answers.ts'
import { type Call, carriesBytes, type Need, type Origins } from './call.ts'
import type { Documentation, Endpoint } from './endpoint.ts'
import type { Parts } from './parts.ts'
import { assertOwnOrigin } from './requests/browser.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'options'

/**
 * `session`: for sign-in settings, which keys may not change. `administrator`: a session, since a leaked key must not
 * control the server. `optional`: anonymous callers are guests. `need` is set wherever keys are accepted.
 */
type Auth =
  | { readonly auth: 'key' | 'optional'; readonly need: Need }
  | { readonly auth: 'session' | 'administrator' | 'none'; readonly need?: never }

export interface RouteAccess<Who> {
  readonly as: Auth
  readonly authenticate: (call: Call, authentication: Parts['authentication']) => Promise<Who>
}

/** The endpoint may determine the viewer itself. */
export const anybody: RouteAccess<null> = { as: { auth: 'none' }, authenticate: async () => null }

/** Refuses requests from other sites. */
export const ownPage: RouteAccess<null> = {
  as: { auth: 'none' },
  async authenticate(call) {
    assertOwnOrigin(call)
    return null
  },
}

export const signedIn: RouteAccess<SessionCaller> = {
  as: { auth: 'session' },
  authenticate: (call, authentication) => authentication.signedIn(call),
}

export const administrator: RouteAccess<Administrator> = {
  as: { auth: 'administrator' },
  authenticate: (call, authentication) => authentication.administrator(call),
}

export function key(need: Need): RouteAccess<AccountCaller> {
  return {
    as: { auth: 'key', need },
    authenticate: (call, authentication) => authentication.keyed(call),
  }
}

export function guestOr(need: Need): RouteAccess<Caller> {
  return {
    as: { auth: 'optional', need },
    authenticate: (call, authentication) => authentication.keyedOrGuest(call),
  }
}

/** Guests and keys; ignores cookies. */
export function guestOrKey(need: Need): RouteAccess<Caller> {
  return {
    as: { auth: 'optional', need },
    authenticate: (call, authentication) => authentication.keyOrGuest(call),
  }
}

/** `guestOr`; requests with bytes are not counted. */
export function guestOrBytes(need: Need): RouteAccess<Caller> {
  return {
    as: { auth: 'optional', need },
    authenticate: (call, authentication) =>
      carriesBytes(call.request) ? authentication.ofBytes(call) : authentication.keyedOrGuest(call),
  }
}

/** In bytes, for bodies in memory; a `stream` has its own limits. */
export type BodyLimit = number | 'stream'

interface Special {
  /** Response to other methods: 405; `nothing`: 404; `preflight`: 404 except for preflights. For catch-all patterns. */
  readonly others?: 'nothing' | 'preflight'
  /** If content has its own host: only that, `any`, or by default all others. */
  readonly host?: 'content' | 'any'
}

export type Route = Auth &
  Special &
  Pick<Endpoint<Parts, unknown>, 'documentation' | 'streams' | 'always'> & {
    readonly method: Method
    readonly path: string
    readonly origins: Origins
    readonly body: BodyLimit
    readonly handle: (call: Call, parts: Parts) => Promise<Response | JsonAnswer>
  }

export function row<Who>(
  method: Method,
  path: string,
  access: RouteAccess<Who>,
  origins: Origins,
  body: BodyLimit,
  endpoint: Endpoint<Parts, NoInfer<Who>>,
  special: Special = {},
): Route {
  const { documentation, streams, always } = endpoint
  if (body === 0 && documentation.body !== undefined) {
    throw new Error(`${method} ${path} reads a body, and its row has no limit for that`)
  }
  return {
    method,
    path,
    ...access.as,
    origins,
    body,
    ...special,
    documentation,
    ...(streams === undefined ? {} : { streams }),
    ...(always === undefined ? {} : { always }),
    async handle(call, parts) {
      try {
        const caller = await access.authenticate(call, parts.authentication)
        return await endpoint.handle(call, parts, caller)
      } catch (error) {
        if (error instanceof Refusal) await endpoint.refused?.(call, error)
        throw error
      }
    },
  }
}

export function countsKeys({ auth }: Auth): boolean {
  return auth === 'key' || auth === 'optional'
}

/** Here every request with a key counts against its rate. */
export function isOfApi(path: string): boolean {
  return /^\/(?:api\/v1|file\/delete|folder\/delete)(?=\/|$)/.test(path)
}

export function isForPeople({ documentation: { tag } }: { readonly documentation: Documentation }): boolean {
  return tag === 'Site' || tag === 'Public'
}

/** CORS: callable with a key from pages of any site, or only of this one. */
export const [ANY, OWN] = ['any origin', 'own origin'] as const

/** Body limits in bytes: routes without a body. */
export const NONE = 0
/** A name, a password, a path. */
export const FORM = 8 * 1024
/** JSON of unauthenticated clients: every field at its maximum. */
export const FIELDS = 16 * 1024
/** `FIELDS` with a text of some thousand characters, in any script and escaping. */
export const TEXT = 64 * 1024
/** JSON with all identifiers of an account, or a resource sent back. */
export const DATA = 1024 * 1024
/** A form with a picture of 5 MB. */
export const PICTURE = 6 * 1024 * 1024
/** Files are never read into memory as a whole. */
export const STREAM = 'stream'

import type { AccountCaller, Caller, SessionCaller } from '../core/callers.ts'
import type { Administrator } from '../domain/audit.ts'
import { Refusal } from '../domain/errors.ts'
import type { JsonAnswer } from './answers/json.ts'
import type { Authentication } from './authentication.ts'
import type { Call, Need } from './call.ts'
import type { Documentation, Endpoint } from './endpoint.ts'
import type { Parts } from './parts.ts'
import { carriesBytes } from './requests/method-override.ts'
import { assertOwnOrigin } from './requests/own-page.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'options'

/**
 * `key`: requires an API key or a session. `session`: for sign-in settings, which keys may not change.
 * `administrator`: an administrator's session, because a leaked key must not control the server. `optional`:
 * anonymous callers are guests. `none`: no authentication. `need` is set wherever keys are accepted.
 */
type Auth =
  | { readonly auth: 'key' | 'optional'; readonly need: Need }
  | { readonly auth: 'session' | 'administrator' | 'none'; readonly need?: never }

/** Access rule of a route, and its authentication. */
export interface RouteAccess<Who> {
  readonly as: Auth
  readonly authenticate: (call: Call, authentication: Authentication) => Promise<Who>
}

/** No authentication. The endpoint may determine the viewer itself. */
export const anybody: RouteAccess<null> = { as: { auth: 'none' }, authenticate: async () => null }

/** Any page of this site, signed in or not; requests of other sites are refused. */
export const ownPage: RouteAccess<null> = {
  as: { auth: 'none' },
  async authenticate(call) {
    assertOwnOrigin(call)
    return null
  },
}

/** People who are signed in on the site. */
export const signedIn: RouteAccess<SessionCaller> = {
  as: { auth: 'session' },
  authenticate: (call, authentication) => authentication.signedIn(call),
}

/** Administrators who are signed in on the site. */
export const administrator: RouteAccess<Administrator> = {
  as: { auth: 'administrator' },
  authenticate: (call, authentication) => authentication.administrator(call),
}

/** API keys with that permission, and people who are signed in. */
export function key(need: Need): RouteAccess<AccountCaller> {
  return {
    as: { auth: 'key', need },
    authenticate: (call, authentication) => authentication.keyed(call),
  }
}

/** `key` and guests. */
export function guestOr(need: Need): RouteAccess<Caller> {
  return {
    as: { auth: 'optional', need },
    authenticate: (call, authentication) => authentication.keyedOrGuest(call),
  }
}

/** Guests and API keys; cookies are ignored. */
export function guestOrKey(need: Need): RouteAccess<Caller> {
  return {
    as: { auth: 'optional', need },
    authenticate: (call, authentication) => authentication.keyOrGuest(call),
  }
}

/** `guestOr`, where requests that carry bytes are not counted. */
export function guestOrBytes(need: Need): RouteAccess<Caller> {
  return {
    as: { auth: 'optional', need },
    authenticate: (call, authentication) =>
      carriesBytes(call.request) ? authentication.ofBytes(call) : authentication.keyedOrGuest(call),
  }
}

/** CORS: whose pages may call a route from a browser, those of any site or of this one only. */
export type Origins = 'any origin' | 'own origin'

/** Maximum bytes of a body that is read into memory; a `stream` has limits of its own. */
export type BodyLimit = number | 'stream'

/** Options that few rows need. */
interface Special {
  /**
   * Response to other methods at its path: by default 405; `nothing`: 404; `preflight`: 404 except for
   * preflights. For patterns that match every path without a route of its own.
   */
  readonly others?: 'nothing' | 'preflight'
  /**
   * Hosts that serve the route when content has a host of its own: only that, `any`, or, by default, all but
   * that.
   */
  readonly host?: 'content' | 'any'
}

/** One row of the route table. */
export type Route = Auth &
  Special &
  Pick<Endpoint<Parts, unknown>, 'documentation' | 'streams' | 'always'> & {
    readonly method: Method
    /** With parameters in braces, as in OpenAPI. */
    readonly path: string
    readonly origins: Origins
    readonly body: BodyLimit
    readonly handle: (call: Call, parts: Parts) => Promise<Response | JsonAnswer>
  }

/** Adds an endpoint to the table. */
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

/** Whether the route's own authentication counts requests with a key. */
export function countsKeys({ auth }: Auth): boolean {
  return auth === 'key' || auth === 'optional'
}

/** Whether a path is of the API, where every request with a key counts against its rate, whatever becomes of it. */
export function isOfApi(path: string): boolean {
  return /^\/(?:api\/v1|file\/delete|folder\/delete)(?=\/|$)/.test(path)
}

/** Whether browsers get a page rather than JSON, even for errors. */
export function isForPeople({ documentation: { tag } }: { readonly documentation: Documentation }): boolean {
  return tag === 'Site' || tag === 'Public'
}

import { getPath, tryDecodeURIComponent } from 'hono/utils/url'
import type { AccountCaller, Caller, SessionCaller } from '../core/callers.ts'
import { FileDamaged, outageRefusal } from '../core/failures.ts'
import type { Administrator } from '../domain/audit.ts'
import { Refusal } from '../domain/errors.ts'
import { errorResponse, type JsonAnswer, preflight } from './answers/answers.ts'
import { type Call, carriesBytes, type Need, type Origins, shuttingDown as refusal } from './call.ts'
import type { PathKind } from './connections/exchange.ts'
import type { Documentation, Endpoint } from './endpoint.ts'
import type { Modules } from './modules.ts'
import { assertOneEnd, assertUncoded, declaresBody } from './requests/body.ts'
import { assertOwnOrigin } from './requests/browser.ts'
import type { Trails } from './trails.ts'

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
  readonly authenticate: (call: Call, authentication: Modules['authentication']) => Promise<Who>
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
  Pick<Endpoint<Modules, unknown>, 'documentation' | 'streams' | 'always'> & {
    readonly method: Method
    readonly path: string
    readonly origins: Origins
    readonly body: BodyLimit
    readonly handle: (call: Call, modules: Modules) => Promise<Response | JsonAnswer>
  }

export function row<Who>(
  method: Method,
  path: string,
  access: RouteAccess<Who>,
  origins: Origins,
  body: BodyLimit,
  endpoint: Endpoint<Modules, NoInfer<Who>>,
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
    async handle(call, modules) {
      try {
        const caller = await access.authenticate(call, modules.authentication)
        return await endpoint.handle(call, modules, caller)
      } catch (error) {
        if (error instanceof Refusal) await endpoint.refused?.(call, error)
        throw error
      }
    },
  }
}

function countsKeys({ auth }: Auth): boolean {
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

/** By which balancers leave a server that stops. */
const BALANCER_ROUTES: readonly string[] = ['/health', '/ready']

/** Methods whose requests have a body, and say so even when it is empty (RFC 9110 §8.6). */
const BODY_METHODS: readonly string[] = ['POST', 'PUT', 'PATCH']

const ASSETS = '/assets/{name}'
/** Paths below which repeated and trailing slashes are ignored. */
const TOLERANT = /^\/(?:api\/v1|file\/delete|folder\/delete|d|f|l)(?=\/|$)/

/** What a server that stops refuses: nothing yet, new uploads, or all. */
export type Stopping = 'nothing' | 'uploads' | 'all'

/** A row of the route table, or a route that is served beside it. */
interface Entry extends Pick<Route, 'path' | 'handle' | 'always' | 'others' | 'host' | 'origins'> {
  readonly need: Need | null
  readonly bodyLimit: number
  /** Whether a stopping server refuses it although it serves others: uploads, and what balancers ask. */
  readonly isRefusedFirst: boolean
  /** Whether its handler counts requests with a key. */
  readonly countsKeys: boolean
  /** Whether people open it in a browser, so that errors are pages. */
  readonly isSeen: boolean
  readonly kind: PathKind
}

/**
 * Serves the routes of the table, preflights, assets, and errors for everything else; while the server stops, an error
 * first for new uploads and what balancers ask, then for everything.
 */
export function createRouter(
  routes: readonly Route[],
  modules: Modules,
  stopping: () => Stopping,
  trails: Trails,
) {
  const { authentication, pages } = modules
  const nothingHere = (call: Call) => pages.error(call, nothing())
  const places = new Places()
  places.add('GET', {
    path: ASSETS,
    need: null,
    bodyLimit: 0,
    isRefusedFirst: false,
    countsKeys: false,
    origins: 'any origin',
    others: 'nothing',
    isSeen: true,
    kind: 'plain',
    handle: async (call) => pages.asset(call.params.name ?? '', call.request) ?? (await nothingHere(call)),
  })
  for (const route of routes) places.add(route.method.toUpperCase(), entryOf(route))

  /** Answers any request and fills in its route. Never throws. */
  async function answer(context: Call): Promise<Response | JsonAnswer> {
    const { request } = context
    const isHead = request.method === 'HEAD'
    const asked = getPath(request)
    const path = cleanPath(asked)
    const method = isHead ? 'GET' : request.method
    const fits = places.at(path)
    const fit = fits.find(({ place }) => place.rows.has(method))
    const entry = fit?.place.rows.get(method)
    try {
      if (fit !== undefined && entry !== undefined) {
        context.route = entry.path
        context.origins = entry.origins
        context.need = entry.need
        context.bodyLimit = entry.bodyLimit
        context.params = paramsOf(fit)
        if (entry.always !== undefined) setHeaders(context, entry.always)
      }
      assertEnds(context)
      const state = stopping()
      if (state === 'all' || (state === 'uploads' && entry?.isRefusedFirst === true))
        throw shuttingDown(context)
      if (!isServedAt(context, entry)) return errorResponse(nothing())
      if (path !== asked && entry?.isSeen === true) return permanently(context)
      if (entry?.countsKeys !== true && isOfApi(path)) await authentication.count(context)
      if (entry === undefined) return unmatched(context, fits) ?? (await nothingHere(context))
      if (request.method !== 'GET' && !isHead) assertUncoded(request.headers)
      // For HEAD the body is included, which determines length and encoding; the listener omits it.
      return await entry.handle(context, modules)
    } catch (error) {
      if (error instanceof Refusal && error.refusedTry !== null) context.refusal = error
      return await failure(context, error, entry?.isSeen === false ? null : pages)
    } finally {
      if (context.refusal !== null) await trails.refused(context, context.refusal)
    }
  }

  return {
    answer,
    /** `path`: without a query. */
    kindOf: (path: string): PathKind => places.at(cleanPath(path))[0]?.place.kind ?? 'plain',
  }
}

/**
 * Throws Refusal INVALID_REQUEST, and closes the connection, for a body whose end a proxy may see elsewhere. Closes it too
 * after a body that was not declared: what follows is no request then.
 */
function assertEnds({ request, headers }: Call): void {
  if (BODY_METHODS.includes(request.method) && !declaresBody(request.headers))
    headers.set('Connection', 'close')
  try {
    assertOneEnd(request.headers)
  } catch (error) {
    headers.set('Connection', 'close')
    throw error
  }
}

/** Content with a host of its own is served only there, and that host serves nothing else. */
function isServedAt({ site, request }: Call, entry: Entry | undefined): boolean {
  const isContent = site.isForContent(request)
  return isContent === null || entry?.host === 'any' || (entry?.host === 'content') === isContent
}

/** Redirects a page to its canonical address. */
function permanently({ site, url }: Call): Response {
  const address = site.publicUrl + cleanPath(url.pathname) + url.search
  return new Response(null, { status: 308, headers: { Location: address } })
}

/** Path parameters, percent-decoded; malformed escapes stay as they are. */
function paramsOf({ place, values }: Fit): Call['params'] {
  const params: Record<string, string> = {}
  for (const [at, name] of place.names.entries()) params[name] = tryDecodeURIComponent(values[at] ?? '')
  return params
}

/** `pages`: null for routes without readers in a browser. */
async function failure(call: Call, error: unknown, pages: Modules['pages'] | null): Promise<Response> {
  const refusal = asRefusal(call, error)
  if (pages === null) return errorResponse(refusal)
  try {
    return await pages.error(call, refusal)
  } catch (pageError) {
    return errorResponse(asRefusal(call, pageError))
  }
}

function setHeaders(call: Call, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) call.headers.set(name, value)
}

/** Maps an error to a refusal. Unknown errors are logged and not revealed to the caller. */
function asRefusal(call: Call, error: unknown): Refusal {
  if (error instanceof FileDamaged) call.site.report(error, call.id)
  if (error instanceof Refusal) return error
  // The sender has disconnected; the response is not sent.
  if (error instanceof Error && error.name === 'AbortError') {
    return new Refusal('INVALID_REQUEST', 'The connection was closed before the body was complete')
  }
  call.site.report(error, call.id)
  const outage = outageRefusal(error)
  if (outage !== null) return outage
  return new Refusal(
    'INTERNAL_ERROR',
    'Something went wrong on the server; the request id tells where to look',
  )
}

/** Closes the connection, so that the client's next request reaches another node, if there is one. */
function shuttingDown(call: Call): Refusal {
  call.headers.set('Connection', 'close')
  return refusal()
}

function nothing(): Refusal {
  return new Refusal('NOT_FOUND', 'There is nothing at this address')
}

function methodNotAllowed(allowed: readonly string[]): Response {
  const response = errorResponse(new Refusal('METHOD_NOT_ALLOWED', `Use ${allowed.join(' or ')} here`))
  response.headers.set('Allow', allowed.join(', '))
  return response
}

function entryOf(route: Route): Entry {
  return {
    ...route,
    need: route.need ?? null,
    bodyLimit: route.body === 'stream' ? 0 : route.body,
    isRefusedFirst: route.body === 'stream' || BALANCER_ROUTES.includes(route.path),
    countsKeys: countsKeys(route),
    isSeen: isForPeople(route),
    kind: route.streams !== undefined ? 'streaming' : route.body === 'stream' ? 'receiving' : 'plain',
  }
}

/** The rows of one path. */
interface Place {
  /** As in the table. */
  readonly path: string
  /** Of its parameters. */
  readonly names: readonly string[]
  /** By method; that of GET serves HEAD too. */
  readonly rows: Map<string, Entry>
  /** Of the most demanding row. */
  kind: PathKind
}

/** A place that a path fits, with the values of its parameters as they were sent. */
interface Fit {
  readonly place: Place
  readonly values: readonly string[]
}

interface Segment {
  readonly fixed: Map<string, Segment>
  parameter: Segment | null
  place: Place | null
}

const KINDS: readonly PathKind[] = ['plain', 'receiving', 'streaming']

/** The table as a tree of path segments. */
class Places {
  readonly #root = newSegment()
  /** Connection and router ask for the same path one after the other. */
  #last: { readonly path: string; readonly fits: readonly Fit[] } = { path: '', fits: [] }

  add(method: string, entry: Entry): void {
    const names: string[] = []
    let segment = this.#root
    for (const text of entry.path.split('/')) {
      const name = /^\{(\w+)\}$/.exec(text)?.[1]
      let next = name === undefined ? segment.fixed.get(text) : segment.parameter
      next ??= newSegment()
      if (name === undefined) segment.fixed.set(text, next)
      else {
        segment.parameter = next
        names.push(name)
      }
      segment = next
    }
    segment.place ??= { path: entry.path, names, rows: new Map(), kind: 'plain' }
    segment.place.rows.set(method, entry)
    if (KINDS.indexOf(entry.kind) > KINDS.indexOf(segment.place.kind)) segment.place.kind = entry.kind
  }

  /** Fixed segments before parameters. Rows that leave other methods to nothing are for what nothing else fits. */
  at(path: string): readonly Fit[] {
    if (path !== this.#last.path) {
      const fits: Fit[] = []
      collect(this.#root, path.split('/'), 0, [], fits)
      this.#last = {
        path,
        fits: fits.length < 2 ? fits : fits.filter(({ place }) => !isCatchAll(place)),
      }
    }
    return this.#last.fits
  }
}

function newSegment(): Segment {
  return { fixed: new Map(), parameter: null, place: null }
}

function collect(
  segment: Segment,
  path: readonly string[],
  at: number,
  values: readonly string[],
  fits: Fit[],
): void {
  const text = path[at]
  if (text === undefined) {
    if (segment.place !== null) fits.push({ place: segment.place, values })
    return
  }
  const next = segment.fixed.get(text)
  if (next !== undefined) collect(next, path, at + 1, values, fits)
  if (segment.parameter !== null && text !== '')
    collect(segment.parameter, path, at + 1, [...values, text], fits)
}

function isCatchAll({ rows }: Place): boolean {
  return rows.values().every(({ others }) => others === 'nothing')
}

/** Answers preflights, and methods that the path lacks. Null where there is nothing at the path. */
function unmatched(context: Call, fits: readonly Fit[]): Response | null {
  const places = fits.map(({ place }) => place).filter((place) => !isCatchAll(place))
  const rows = places.flatMap((place) => [...place.rows])
  const [first] = rows
  if (first === undefined) return null
  const [, { path, origins, others }] = first
  const methods = rows.flatMap(([method]) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const allowed = [...new Set([...methods, 'OPTIONS'])]
  context.route = path
  context.origins = origins
  for (const [, { always }] of rows) if (always !== undefined) setHeaders(context, always)
  if (context.request.method === 'OPTIONS') return preflight(allowed)
  if (others === 'preflight') throw nothing()
  return methodNotAllowed(allowed)
}

/** The path without repeated and trailing slashes; unchanged where these are significant. */
function cleanPath(path: string): string {
  if (!path.includes('//') && !path.endsWith('/')) return path
  const cleaned = path
    .split('/')
    .filter((segment) => segment !== '')
    .join('/')
  return TOLERANT.test(`/${cleaned}`) ? `/${cleaned}` : path
}

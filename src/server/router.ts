import type { Result } from 'hono/router'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { getPath, tryDecodeURIComponent } from 'hono/utils/url'
import { FileDamaged, outageRefusal } from '../core/failures.ts'
import { Refusal } from '../domain/errors.ts'
import { errorResponse, type JsonAnswer } from './answers/answers.ts'
import { type Call, type Need, type Origins, shuttingDown as refusal } from './call.ts'
import type { Parts } from './parts.ts'
import { assertOneEnd, assertUncoded, declaresBody } from './requests/body.ts'
import { countsKeys, isForPeople, isOfApi, type Route } from './route.ts'
import type { Trails } from './trails.ts'

/** By which balancers leave a server that stops. */
const BALANCER_ROUTES: readonly string[] = ['/health', '/ready']

/** Methods whose requests have a body, and say so even when it is empty (RFC 9110 §8.6). */
const BODY_METHODS: readonly string[] = ['POST', 'PUT', 'PATCH']

const ASSETS = '/assets/{name}'
/** Paths below which repeated and trailing slashes are ignored. */
const TOLERANT = /^\/(?:api\/v1|file\/delete|folder\/delete|d|f|l)(?=\/|$)/

/** What a server that stops refuses: nothing yet, new uploads, or all. */
export type Stopping = 'nothing' | 'uploads' | 'all'

/** Answers any request and fills in its route. Never throws. */
export type Router = (context: Call) => Promise<Response | JsonAnswer>

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
}

/**
 * Serves the routes of the table, preflights, assets, and errors for everything else; while the server stops, an error
 * first for new uploads and what balancers ask, then for everything. Only Hono's router is used: a Hono app creates a
 * context and several promises for each request, and accepts only Response objects.
 */
export function createRouter(
  routes: readonly Route[],
  parts: Parts,
  stopping: () => Stopping,
  trails: Trails,
): Router {
  const { authentication, pages } = parts
  const nothingHere = (call: Call) => pages.error(call, nothing())
  const router = new RegExpRouter<Entry>()
  router.add('GET', routerPattern(ASSETS), {
    path: ASSETS,
    need: null,
    bodyLimit: 0,
    isRefusedFirst: false,
    countsKeys: false,
    origins: 'any origin',
    isSeen: true,
    handle: async (call) => pages.asset(call.params.name ?? '', call.request) ?? (await nothingHere(call)),
  })
  for (const route of routes.filter(({ others }) => others !== 'nothing')) {
    router.add(route.method.toUpperCase(), routerPattern(route.path), entryOf(route))
  }
  const addressAt = createAddresses(routes)
  const left = matchingSingleSegments(routes, addressAt)
  const unmatched = answeringUnmatched(addressAt, nothingHere)

  return async (context) => {
    const { request } = context
    const isHead = request.method === 'HEAD'
    const asked = getPath(request)
    const path = cleanPath(asked)
    const found = router.match(isHead ? 'GET' : request.method, path)
    // Of several matches, the first in the table wins.
    const entry = found[0][0]?.[0] ?? left(request.method, path)
    try {
      if (entry !== undefined) {
        context.route = entry.path
        context.origins = entry.origins
        context.need = entry.need
        context.bodyLimit = entry.bodyLimit
        context.params = entry.others === 'nothing' ? paramsOfSingleSegment(path) : paramsOf(found)
        if (entry.always !== undefined) setHeaders(context, entry.always)
      }
      assertEnds(context)
      const state = stopping()
      if (state === 'all' || (state === 'uploads' && entry?.isRefusedFirst === true))
        throw shuttingDown(context)
      if (!isServedAt(context, entry)) return errorResponse(nothing())
      if (path !== asked && entry?.isSeen === true) return permanently(context)
      if (entry?.countsKeys !== true && isOfApi(path)) await authentication.count(context)
      if (entry === undefined) return await unmatched(context, path)
      if (request.method !== 'GET' && !isHead) assertUncoded(request.headers)
      // For HEAD the body is included, which determines length and encoding; the listener omits it.
      return await entry.handle(context, parts)
    } catch (error) {
      if (error instanceof Refusal && error.refusedTry !== null) context.refusal = error
      return await failure(context, error, entry?.isSeen === false ? null : pages)
    } finally {
      if (context.refusal !== null) await trails.refused(context, context.refusal)
    }
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
function paramsOf(found: Result<Entry>): Call['params'] {
  if (found.length === 1) return found[0][0]?.[1] ?? {}
  const [[first], captured] = found
  const params: Record<string, string> = {}
  const places = first?.[1] ?? {}
  for (const name in places) {
    const value = captured[places[name] ?? -1]
    if (value !== undefined) params[name] = tryDecodeURIComponent(value)
  }
  return params
}

/** `pages`: null for routes without readers in a browser. */
async function failure(call: Call, error: unknown, pages: Parts['pages'] | null): Promise<Response> {
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

/** Converts `{name}` of the table to Hono's `:name`. */
export function routerPattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

function entryOf(route: Route): Entry {
  return {
    ...route,
    need: route.need ?? null,
    bodyLimit: route.body === 'stream' ? 0 : route.body,
    isRefusedFirst: route.body === 'stream' || BALANCER_ROUTES.includes(route.path),
    countsKeys: countsKeys(route),
    isSeen: isForPeople(route),
  }
}

type AddressAt = (path: string) => Address | null

/**
 * Matches paths of one segment without a route of their own, for any method. Hono's router does not accept
 * such a pattern beside others.
 */
function matchingSingleSegments(
  routes: readonly Route[],
  addressAt: AddressAt,
): (method: string, path: string) => Entry | undefined {
  const entries = new Map(
    routes
      .filter(({ others }) => others === 'nothing')
      .map((route) => [route.method.toUpperCase(), entryOf(route)] as const),
  )
  return (method, path) => {
    const entry = entries.get(method)
    return entry !== undefined && /^\/[^/]+$/.test(path) && addressAt(path) === null ? entry : undefined
  }
}

function paramsOfSingleSegment(path: string): Call['params'] {
  return { name: tryDecodeURIComponent(path.slice(1)) }
}

/** Answers preflights, and requests that match no route. */
function answeringUnmatched(
  addressAt: AddressAt,
  nothingHere: (call: Call) => Promise<Response>,
): (context: Call, path: string) => Promise<Response> {
  return async (context, path) => {
    const address = addressAt(path)
    if (address === null) return nothingHere(context)
    const { allowed, always, others } = address
    context.route = address.path
    context.origins = address.origins
    setHeaders(context, always)
    if (context.request.method === 'OPTIONS') return preflight(allowed)
    if (others === 'preflight') throw nothing()
    return methodNotAllowed(allowed)
  }
}

interface Address {
  /** Path as in the table. */
  readonly path: string
  readonly always: Readonly<Record<string, string>>
  readonly allowed: readonly string[]
  readonly origins: Origins
  readonly others: Route['others']
}

/** Finds the pattern that a path matches, most specific first, and its allowed methods. */
function createAddresses(routes: readonly Route[]): AddressAt {
  const named = routes.filter(({ others }) => others !== 'nothing')
  const patterns = named.map((route) => ({
    route,
    fits: new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    methods: route.method === 'get' ? ['GET', 'HEAD'] : [route.method.toUpperCase()],
  }))
  return (path) => {
    const fitting = patterns.filter((pattern) => pattern.fits.test(path))
    const plainest = fitting.find(({ route }) => route.path === path) ?? fitting[0]
    if (plainest === undefined) return null
    return {
      path: plainest.route.path,
      others: plainest.route.others,
      origins: plainest.route.origins,
      always: Object.assign({}, ...fitting.map(({ route }) => route.always)),
      allowed: [...new Set([...fitting.flatMap(({ methods }) => methods), 'OPTIONS'])],
    }
  }
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

/** Any header. A star excludes Authorization, and older browsers take it for a name. */
const ALLOWED_HEADERS = [
  '*',
  'Authorization',
  'Cache-Control',
  'Content-Type',
  'Range',
  'If-Range',
  'X-Folder-ID',
  'Idempotency-Key',
  'X-HTTP-Method-Override',
  'X-Request-ID',
  'X-Requested-With',
  'Tus-Resumable',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Defer-Length',
  'Upload-Metadata',
  'Upload-Checksum',
  'Upload-Concat',
  'Holdfast-Before',
  'Holdfast-Account',
].join(', ')

export const EXPOSED_HEADERS = [
  'Content-Length',
  'Content-Range',
  'Accept-Ranges',
  'ETag',
  'Repr-Digest',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
  'Location',
  'Holdfast-Before',
  'Holdfast-Receipt',
  'Holdfast-Slug',
  'Holdfast-Url',
  'Tus-Resumable',
  'Tus-Version',
  'Tus-Extension',
  'Tus-Max-Size',
  'Tus-Checksum-Algorithm',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Defer-Length',
  'Upload-Metadata',
  'Upload-Expires',
  'Upload-Concat',
].join(', ')

export function preflight(allowed: readonly string[]): Response {
  return new Response(null, {
    status: 204,
    headers: {
      Allow: allowed.join(', '),
      'Access-Control-Allow-Methods': allowed.join(', '),
      'Access-Control-Allow-Headers': ALLOWED_HEADERS,
      'Access-Control-Max-Age': '86400',
    },
  })
}

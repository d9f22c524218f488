import type { Result } from 'hono/router'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { getPath, tryDecodeURIComponent } from 'hono/utils/url'
import { Refusal } from '../domain/errors.ts'
import { FileDamaged } from '../services/damage.ts'
import { outageRefusal } from '../services/failures.ts'
import type { Arrival } from './arrival.ts'
import type { Call } from './call.ts'
import { iconAnswer } from './content/icons.ts'
import { errorResponse } from './errors.ts'
import type { JsonAnswer } from './json.ts'
import type { Need } from './need.ts'
import { preflight } from './preflight.ts'
import { isForPeople, type Route } from './route.ts'
import type { Assets } from './site/assets.ts'
import { siteError } from './site/pages.ts'
import { cleanPath } from './slashes.ts'

const ASSETS = '/assets/{name}'

/** Answers a request, whatever it asks, and fills in what that is. Never throws. */
export type Router = (arrival: Arrival) => Promise<Response | JsonAnswer>

/** A row of the route table, or what is answered beside it. */
interface Entry extends Pick<Route, 'path' | 'handle' | 'always' | 'others' | 'host'> {
  readonly need: Need | null
  /** Whether people look at it, who want to read of errors on a page. */
  readonly isSeen: boolean
}

/**
 * The routes of the table, preflights, assets, and errors for all else; while the server stops, an error for everything.
 * Of Hono it is the router alone: an app of it makes a context and several promises for each request, and takes nothing
 * but a Response.
 */
export function createRouter(routes: readonly Route[], assets: Assets, isStopping: () => boolean): Router {
  const router = new RegExpRouter<Entry>()
  router.add('GET', routerPattern(ASSETS), {
    path: ASSETS,
    need: null,
    isSeen: true,
    handle: async (call) => assetOf(call) ?? (await nothingHere(call)),
  })
  for (const route of routes.filter(({ others }) => others !== 'nothing')) {
    router.add(route.method.toUpperCase(), routerPattern(route.path), entryOf(route))
  }
  const addressAt = createAddresses(routes)
  const left = takingWhatIsLeft(routes, addressAt)
  const unmatched = answeringUnmatched(addressAt)
  const assetOf = ({ params: { name = '' }, request }: Call) =>
    assets.answer(name, request) ?? iconAnswer(name)

  return async (arrival) => {
    const { request } = arrival
    const isHead = request.method === 'HEAD'
    const asked = getPath(request)
    const path = cleanPath(asked)
    const found = router.match(isHead ? 'GET' : request.method, path)
    // Where several match, the first of the table.
    const entry = found[0][0]?.[0] ?? left(request.method, path)
    try {
      if (entry !== undefined) {
        arrival.route = entry.path
        arrival.need = entry.need
        arrival.params = entry.others === 'nothing' ? paramsOfLeft(path) : paramsOf(found)
        if (entry.always !== undefined) setHeaders(arrival, entry.always)
      }
      if (isStopping()) throw shuttingDown(arrival)
      if (!isServedAt(arrival, entry)) return errorResponse(nothing())
      if (path !== asked && entry?.isSeen === true) return permanently(arrival)
      if (entry === undefined) return await unmatched(arrival, path)
      const answer = await entry.handle(arrival)
      return isHead && answer instanceof Response ? new Response(null, answer) : answer
    } catch (error) {
      return failure(arrival, error, entry?.isSeen ?? true)
    }
  }
}

/** Content that has a name of its own is served there and nowhere else, and nothing else is. */
function isServedAt({ site, request }: Call, entry: Entry | undefined): boolean {
  const isContent = site.hosts.isContent(request)
  return isContent === null || entry?.host === 'any' || (entry?.host === 'content') === isContent
}

/** A page has one address. */
function permanently({ site, url }: Call): Response {
  const address = site.publicUrl + cleanPath(url.pathname) + url.search
  return new Response(null, { status: 308, headers: { Location: address } })
}

/** Decoded, as far as that goes. */
function paramsOf(found: Result<Entry>): Arrival['params'] {
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

async function failure(call: Call, error: unknown, isSeen: boolean): Promise<Response> {
  const refusal = asRefusal(call, error)
  if (!isSeen) return errorResponse(refusal)
  try {
    return await siteError(call, refusal)
  } catch (pageError) {
    return errorResponse(asRefusal(call, pageError))
  }
}

function setHeaders(call: Call, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) call.headers.set(name, value)
}

/** What is unknown is written to the log and not told to the caller. */
function asRefusal(call: Call, error: unknown): Refusal {
  if (error instanceof FileDamaged) call.site.report(error, call.id)
  if (error instanceof Refusal) return error
  // The sender has gone; nobody will read the answer.
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

/** The next request goes to a server that stays, if there is one. */
function shuttingDown(call: Call): Refusal {
  call.headers.set('Connection', 'close')
  return new Refusal('SHUTTING_DOWN', 'The server is restarting; try again', 5)
}

function nothing(): Refusal {
  return new Refusal('NOT_FOUND', 'There is nothing at this address')
}

function nothingHere(call: Call): Promise<Response> {
  return siteError(call, nothing())
}

function methodNotAllowed(allowed: readonly string[]): Response {
  const response = errorResponse(new Refusal('METHOD_NOT_ALLOWED', `Use ${allowed.join(' or ')} here`))
  response.headers.set('Allow', allowed.join(', '))
  return response
}

/** `{name}` of the table is `:name` here. */
export function routerPattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

function entryOf(route: Route): Entry {
  return { ...route, need: route.need ?? null, isSeen: isForPeople(route) }
}

type AddressAt = (path: string) => Address | null

/**
 * The route that takes paths of one segment which are no other route's, whatever the method there. Hono's router refuses
 * such a pattern beside others.
 */
function takingWhatIsLeft(
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

function paramsOfLeft(path: string): Arrival['params'] {
  return { name: tryDecodeURIComponent(path.slice(1)) }
}

/** Preflights, and errors where no route is. */
function answeringUnmatched(addressAt: AddressAt): (arrival: Arrival, path: string) => Promise<Response> {
  return async (arrival, path) => {
    const address = addressAt(path)
    if (address === null) return nothingHere(arrival)
    const { allowed, always, others } = address
    arrival.route = address.path
    setHeaders(arrival, always)
    if (arrival.request.method === 'OPTIONS') return preflight(allowed)
    if (others === 'preflight') throw nothing()
    return methodNotAllowed(allowed)
  }
}

interface Address {
  /** As the table writes it. */
  readonly path: string
  readonly always: Readonly<Record<string, string>>
  readonly allowed: readonly string[]
  readonly others: Route['others']
}

/** Which route's path a path fits, the plainest first, and what may be asked there. */
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
      always: Object.assign({}, ...fitting.map(({ route }) => route.always)),
      allowed: [...new Set([...fitting.flatMap(({ methods }) => methods), 'OPTIONS'])],
    }
  }
}

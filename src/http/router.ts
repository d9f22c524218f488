import { Hono } from 'hono'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { Refusal } from '../domain/errors.ts'
import { outageRefusal } from '../services/failures.ts'
import type { Call } from './call.ts'
import { errorResponse } from './errors.ts'
import type { Need } from './need.ts'
import { preflight } from './preflight.ts'
import { isForPeople, type Route } from './route.ts'
import type { Assets } from './site/assets.ts'
import { siteError } from './site/pages.ts'

/** What a request brings along: its call, and the pattern it matched, for the log. */
export interface Handed {
  readonly call: (params: Record<string, string>, need: Need | null) => Call
  route: string
}

const ASSETS = '/assets/{name}'

type Env = { Bindings: Handed }

/** Answers every request: the routes of the table, preflights, assets, and errors for all else. */
export function createRouter(routes: readonly Route[], assets: Assets): Hono<Env> {
  const app = new Hono<Env>({ router: new RegExpRouter() })
  app.get(routerPattern(ASSETS), (c) => {
    c.env.route = ASSETS
    return assets.answer(c.req.param('name') ?? '', c.req.raw) ?? nothingHere(c.env.call({}, null))
  })
  for (const route of routes) {
    app.on(route.method.toUpperCase(), routerPattern(route.path), (c) => {
      c.env.route = route.path
      return answering(c.env.call(c.req.param(), route.need ?? null), route, (call) => route.handle(call))
    })
  }
  const allowedAt = createAllowedMethods(routes)
  app.notFound((c) => {
    const [route, allowed] = allowedAt(c.req.path)
    if (route === null) return nothingHere(c.env.call({}, null))
    c.env.route = route
    return c.req.method === 'OPTIONS' ? preflight(allowed) : methodNotAllowed(allowed)
  })
  return app
}

async function answering(
  call: Call,
  route: Route,
  handle: (call: Call) => Promise<Response>,
): Promise<Response> {
  try {
    return await handle(call)
  } catch (error) {
    const refusal = asRefusal(call, error)
    return isForPeople(route) ? siteError(call, refusal) : errorResponse(refusal)
  }
}

/** What is unknown is written to the log and not told to the caller. */
function asRefusal(call: Call, error: unknown): Refusal {
  if (error instanceof Refusal) return error
  // The sender has gone; nobody will read the answer.
  if (error instanceof Error && error.name === 'AbortError') {
    return new Refusal('INVALID_REQUEST', 'The connection was closed before the body was complete')
  }
  call.site.report(error)
  const outage = outageRefusal(error)
  if (outage !== null) return outage
  return new Refusal(
    'INTERNAL_ERROR',
    'Something went wrong on the server; the request id tells where to look',
  )
}

function nothingHere(call: Call): Response {
  return siteError(call, new Refusal('NOT_FOUND', 'There is nothing at this address'))
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

type AllowedMethods = readonly [route: string | null, allowed: readonly string[]]

/** Which route's path a path fits, the plainest first, and what may be asked there. */
function createAllowedMethods(routes: readonly Route[]): (path: string) => AllowedMethods {
  const patterns = routes.map(({ path, method }) => ({
    path,
    fits: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    methods: method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  }))
  return (path) => {
    const fitting = patterns.filter((pattern) => pattern.fits.test(path))
    const route = fitting.find((pattern) => pattern.path === path) ?? fitting[0]
    if (route === undefined) return [null, []]
    return [route.path, [...new Set([...fitting.flatMap((pattern) => pattern.methods), 'OPTIONS'])]]
  }
}

import type { Verdict } from '../services/rate-limits.ts'
import type { Arrival } from './arrival.ts'
import { JsonAnswer } from './json.ts'
import { EXPOSED_HEADERS } from './preflight.ts'
import { routes } from './routes.ts'
import { TOP_UPLOAD_PATH } from './uploads/paths.ts'

const pages = new Set(
  routes.filter(({ documentation }) => documentation.tag === 'Site').map(({ path }) => path),
)

const ALWAYS = { 'X-Content-Type-Options': 'nosniff' }
const OPEN = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED_HEADERS }
/** A year, for this name alone: what else is served under the domain is not ours to decide. */
const HTTPS_ALONE = 'max-age=31536000'
/** Of what is open, unless it says something else. */
const CACHING = 'private, no-store'

const JSON_TYPE = { 'Content-Type': 'application/json' }
/** Copied as a whole with each answer: to set all of its headers one by one costs more than to find a file's row. */
const closedJson = new Headers({ ...JSON_TYPE, ...ALWAYS })
const openJson = new Headers({ ...JSON_TYPE, ...ALWAYS, ...OPEN, 'Cache-Control': CACHING })

/** The answer with all of its headers. */
export function complete(answer: Response | JsonAnswer, arrival: Arrival): Response {
  const { request, route, id, headers, rate, site } = arrival
  const isOpen = mayBeCalledFromAnywhere(route)
  const response =
    answer instanceof JsonAnswer
      ? jsonWith(isOpen ? openJson : closedJson, answer, request.method === 'HEAD')
      : answer
  for (const [name, value] of headers) {
    if (name === 'Set-Cookie') response.headers.append(name, value)
    else response.headers.set(name, value)
  }
  if (rate !== null) tellRate(response.headers, rate)
  response.headers.set('X-Request-Id', id)
  if (site.publicUrl.startsWith('https:')) response.headers.set('Strict-Transport-Security', HTTPS_ALONE)
  if (response === answer) addCommon(response.headers, isOpen)
  return response
}

/**
 * The API may be called from any origin with a key; cookies play no part in it. Pages and metrics may not be, nor may
 * files be put at the top of the site, for which a page of another site would have to ask first.
 */
function mayBeCalledFromAnywhere(route: string): boolean {
  return !pages.has(route) && route !== TOP_UPLOAD_PATH && !/^\/[dft]\/|^\/metrics$/.test(route)
}

function jsonWith(headers: Headers, { text, status }: JsonAnswer, isHead: boolean): Response {
  const response = new Response(isHead ? null : text, { status, headers })
  response.headers.set('Content-Length', String(Buffer.byteLength(text)))
  return response
}

function tellRate(headers: Headers, verdict: Verdict): void {
  const limit = String(verdict.limit)
  const remaining = String(verdict.remaining)
  const reset = String(verdict.resetsIn)
  headers.set('RateLimit-Limit', limit)
  headers.set('RateLimit-Remaining', remaining)
  headers.set('RateLimit-Reset', reset)
  // The names that most programs know.
  headers.set('X-RateLimit-Limit', limit)
  headers.set('X-RateLimit-Remaining', remaining)
  headers.set('X-RateLimit-Reset', reset)
}

function addCommon(headers: Headers, isOpen: boolean): void {
  for (const [name, value] of Object.entries(isOpen ? { ...ALWAYS, ...OPEN } : ALWAYS))
    headers.set(name, value)
  if (isOpen && !headers.has('Cache-Control')) headers.set('Cache-Control', CACHING)
}

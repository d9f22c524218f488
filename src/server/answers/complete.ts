import type { Verdict } from '../../core/rate-limits/rate-limits.ts'
import type { RequestContext } from '../request-context.ts'
import { JsonAnswer } from './json.ts'
import { WholeAnswer } from './known-body.ts'
import { EXPOSED_HEADERS } from './preflight.ts'

const ALWAYS = { 'X-Content-Type-Options': 'nosniff' }
const OPEN = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED_HEADERS }
/** One year, without includeSubDomains: other hosts of the domain are not ours. */
const STRICT_TRANSPORT = 'max-age=31536000'
const DEFAULT_CACHE_CONTROL = 'private, no-store'

const JSON_TYPE = { 'Content-Type': 'application/json' }
/** Copied as a whole: setting headers one by one costs more than finding a file's row. */
const closedJson = new Headers({ ...JSON_TYPE, ...ALWAYS })
const openJson = new Headers({ ...JSON_TYPE, ...ALWAYS, ...OPEN, 'Cache-Control': DEFAULT_CACHE_CONTROL })

export function complete(answer: Response | JsonAnswer, context: RequestContext): Response | WholeAnswer {
  const { id, headers, rate, site } = context
  // Open to any origin: such routes accept keys and ignore cookies.
  const isOpen = context.origins === 'any origin'
  const response = answer instanceof JsonAnswer ? jsonWith(isOpen ? openJson : closedJson, answer) : answer
  for (const [name, value] of headers) {
    if (name === 'Set-Cookie') response.headers.append(name, value)
    else response.headers.set(name, value)
  }
  if (rate !== null) setRateHeaders(response.headers, rate)
  response.headers.set('X-Request-Id', id)
  if (site.publicUrl.startsWith('https:')) response.headers.set('Strict-Transport-Security', STRICT_TRANSPORT)
  if (response === answer) addCommon(response.headers, isOpen)
  return response
}

function jsonWith(headers: Headers, { text, status }: JsonAnswer): WholeAnswer {
  return new WholeAnswer(text, status, new Headers(headers))
}

function setRateHeaders(headers: Headers, verdict: Verdict): void {
  const limit = String(verdict.limit)
  const remaining = String(verdict.remaining)
  const reset = String(verdict.resetsIn)
  headers.set('RateLimit-Limit', limit)
  headers.set('RateLimit-Remaining', remaining)
  headers.set('RateLimit-Reset', reset)
  headers.set('X-RateLimit-Limit', limit)
  headers.set('X-RateLimit-Remaining', remaining)
  headers.set('X-RateLimit-Reset', reset)
}

function addCommon(headers: Headers, isOpen: boolean): void {
  for (const [name, value] of Object.entries(isOpen ? { ...ALWAYS, ...OPEN } : ALWAYS))
    headers.set(name, value)
  if (isOpen && !headers.has('Cache-Control')) headers.set('Cache-Control', DEFAULT_CACHE_CONTROL)
}

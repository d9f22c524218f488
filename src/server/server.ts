import type { Config } from '../config.ts'
import { PROBE_HEADER } from '../contract/health.ts'
import { FileDamaged, outageRefusal } from '../core/failures.ts'
import type { Verdict } from '../core/rate-limits/rate-limits.ts'
import { type SharedCeiling, Shares, USUAL_WORDS } from '../core/shares.ts'
import type { TrafficCounter } from '../core/traffic.ts'
import type { Database } from '../database/database.ts'
import { type Clock, MINUTE, SECOND, sleep } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { Random } from '../domain/random.ts'
import type { Log } from '../log.ts'
import {
  compressed,
  EXPOSED_HEADERS,
  errorResponse,
  isCompressible,
  JsonAnswer,
  WholeAnswer,
} from './answers/answers.ts'
import {
  Call,
  connectionBucket,
  contentHost,
  parseTrustedProxies,
  type Site,
  type TrustedProxies,
  type UnknownProxy,
  UploadsUnderWay,
  watchForUnknownProxies,
} from './call.ts'
import type { Connection, Flow, Unreadable } from './connections/exchange.ts'
import { type Ceiling, type HttpListener, type ListenWay, listen } from './connections/listener.ts'
import type { Modules } from './modules.ts'
import { openApiDocument } from './openapi/openapi-document.ts'
import { createSmallBodies } from './requests/body.ts'
import { createRouter, type Stopping } from './router.ts'
import { routes } from './routes.ts'
import { createRequestLog, openTrails, type RequestWatch } from './trails.ts'

/** Concurrent unpaged folder lists of half a megabyte each; all have a key or a session. */
export const LISTINGS: SharedCeiling = {
  all: { holders: 128, size: 0 },
  each: { holders: 32, size: 0 },
  kept: 0,
  idleAfter: 30 * SECOND,
}

const ANSWERS_MAY_TAKE = 5 * SECOND
/** Seconds; Bun's maximum, since a slow reader that still empties a large buffer looks idle. */
const QUIET = 255

/** Per address: a large office behind one. Trusted proxies are exempt. */
const MOST_CONNECTIONS = 2048

export async function startServer(
  modules: Modules,
  given: {
    readonly config: Config
    readonly clock: Clock
    readonly random: Random
    readonly log: Log
    readonly db: Database
    readonly foundProxy: (found: UnknownProxy) => void
    readonly traffic: TrafficCounter
    readonly metrics: RequestWatch | null
    /** Never throws. */
    readonly hasOtherNodes: () => Promise<boolean>
    readonly way?: ListenWay
  },
) {
  const { config, clock, random, log, db, traffic, metrics } = given
  const trusted = parseTrustedProxies(config.trustedProxies)
  const lookForProxy = watchForUnknownProxies(trusted, given.foundProxy)
  const underWay = new UploadsUnderWay(clock.timers)
  const trails = await openTrails(given)
  let stopping: Stopping = 'nothing'
  const router = createRouter(routes, modules, () => stopping, trails)
  const nextId = createRequestIds(random)
  const logged = createRequestLog({ log, clock, metrics, traffic, trails })

  const server = await listen(
    {
      hostname: config.host,
      port: config.port,
      quiet: QUIET,
      ...(given.way === undefined ? {} : { way: given.way }),
      kindOf: router.kindOf,
      flow: flowOf(traffic, metrics),
      failed: failedBody,
      refuse: refusedHead,
      ceiling: ceilingOf(trusted, { log, clock, metrics }),
    },
    answer,
    log,
  )
  const url = listeningUrl(server)
  const publicUrl = config.publicUrl ?? url
  let document: unknown
  let documentAnswer: JsonAnswer | null = null

  const site: Site = {
    clock,
    config,
    publicUrl,
    contentUrl: config.contentUrl ?? publicUrl,
    isForContent: contentHost(publicUrl, config.contentUrl ?? publicUrl),
    uploadsUnderWay: underWay,
    smallBodies: createSmallBodies(clock),
    wholeListings: new Shares(clock, LISTINGS, {
      ...USUAL_WORDS,
      each: `At most ${LISTINGS.each.holders} of these run for you at once; try again soon`,
    }),
    report: (error, request) => log.error({ ...(request && { id: request }), ...about(error) }, 'failure'),
    openApi: () => {
      document ??= openApiDocument(routes, publicUrl, modules.authentication.sessionCookie(publicUrl))
      return document
    },
    openApiAnswer: () => {
      documentAnswer ??= new JsonAnswer(site.openApi())
      return documentAnswer
    },
  }

  async function answer(request: Request, connection: Connection): Promise<Response | WholeAnswer> {
    const began = clock.monotonic()
    const context = new Call(site, request, connection, nextId(), trusted)
    if (!request.headers.has(PROBE_HEADER)) lookForProxy(connection.address, request.headers)
    const answered = await (connection.hasUrl ? router.answer(context) : unreadableAddress())
    // The answer may contain a commit that is not yet durable.
    const unsynced = db.durable()
    if (unsynced !== null) await unsynced
    const whole = complete(answered, context)
    const sent = isCompressible(whole) ? await compressed(whole, answered, request) : whole
    logged(context, sent, began)
    return sent
  }

  return {
    url,
    /** Accepts no more work, lets uploads finish within the configured time, then closes every connection. */
    async stop(): Promise<void> {
      stopping = 'uploads'
      modules.events.stop()
      // Behind a balancer, a refused connection leads the client to another node.
      const closed = (await given.hasOtherNodes()) ? server.stop(false) : null
      await underWay.finished(config.shutdownGrace * SECOND)
      stopping = 'all'
      // For responses of the last uploads, and downloads that end soon.
      const deadline = clock.monotonic() + ANSWERS_MAY_TAKE
      while (server.pendingRequests > 0 && clock.monotonic() < deadline) await sleep(clock.timers, 10)
      await server.stop(true)
      await closed
      await trails.stop()
    },
  }
}

function failedBody(error: unknown, headers: Headers): Response {
  const unknown = () =>
    new Refusal('INTERNAL_ERROR', 'The content could not be read; the request id tells where to look')
  const refusal = error instanceof Refusal ? error : (outageRefusal(error) ?? unknown())
  const response = errorResponse(refusal)
  response.headers.set('X-Request-Id', headers.get('X-Request-Id') ?? '')
  return response
}

const ALL_METHODS = [...new Set(['get', 'head', ...routes.map(({ method }) => method), 'options'])]
  .map((method) => method.toUpperCase())
  .join(', ')

const HEAD_REFUSALS = {
  malformed: [400, 'This is not a request that HTTP knows'],
  'large head': [431, 'The headers are too large'],
  'unknown expectation': [417, 'Nothing but 100-continue can be expected'],
} as const satisfies Partial<Record<Unreadable, readonly [number, string]>>

/** For invalid requests; `OPTIONS *` answers for the server as a whole. */
function refusedHead(why: Unreadable): Response {
  if (why === 'OPTIONS *') return new Response(null, { status: 204, headers: { Allow: ALL_METHODS } })
  const [status, message] = HEAD_REFUSALS[why]
  const answer = errorResponse(new Refusal('INVALID_REQUEST', message))
  answer.headers.set('Connection', 'close')
  return new Response(answer.body, { status, headers: answer.headers })
}

function about(error: unknown): { err: unknown; file?: number; slug?: string } {
  return error instanceof FileDamaged
    ? { file: error.file.id, slug: error.file.slug, err: error }
    : { err: error }
}

/** Counts refused connections; logs the first, then at most one line a minute. */
function ceilingOf(
  trusted: TrustedProxies,
  { log, clock, metrics }: { log: Log; clock: Clock; metrics: RequestWatch | null },
): Ceiling {
  let toldAt = Number.NEGATIVE_INFINITY
  let refused = 0
  const tell = () => {
    metrics?.refusedConnection()
    refused += 1
    const now = clock.monotonic()
    if (now - toldAt < MINUTE) return
    toldAt = now
    log.warn(
      { most: MOST_CONNECTIONS, refused },
      'an address has as many connections as one may have, and further ones are closed: "ss -tn" names it; if it is a proxy of yours, put it into HOLDFAST_TRUSTED_PROXIES',
    )
    refused = 0
  }
  return {
    most: MOST_CONNECTIONS,
    bucketOf: (address) => connectionBucket(address, trusted),
    refused: tell,
  }
}

function flowOf(traffic: TrafficCounter, metrics: RequestWatch | null): Flow {
  return {
    received(bytes) {
      traffic.received(bytes)
      metrics?.received(bytes)
    },
    sent(bytes) {
      traffic.sent(bytes)
      metrics?.sent(bytes)
    },
  }
}

function createRequestIds(random: Random): () => string {
  const run = Buffer.from(random(6)).toString('base64url')
  let count = 0
  return () => `${run}-${(++count).toString(36)}`
}

function listeningUrl({ hostname, port }: HttpListener): string {
  const isLocal = ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(hostname)
  const host = isLocal ? 'localhost' : hostname.includes(':') ? `[${hostname}]` : hostname
  return `http://${host}:${port}`
}

function unreadableAddress(): Response {
  const response = errorResponse(
    new Refusal('INVALID_REQUEST', 'The Host header is missing or malformed, or there are two of them'),
  )
  // A proxy may parse the next request differently.
  response.headers.set('Connection', 'close')
  return response
}

const ALWAYS = { 'X-Content-Type-Options': 'nosniff' }
const OPEN = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED_HEADERS }
/** One year, without includeSubDomains: other hosts of the domain are not ours. */
const STRICT_TRANSPORT = 'max-age=31536000'
const DEFAULT_CACHE_CONTROL = 'private, no-store'

const JSON_TYPE = { 'Content-Type': 'application/json' }
/** Copied as a whole: setting headers one by one costs more than finding a file's row. */
const closedJson = new Headers({ ...JSON_TYPE, ...ALWAYS })
const openJson = new Headers({ ...JSON_TYPE, ...ALWAYS, ...OPEN, 'Cache-Control': DEFAULT_CACHE_CONTROL })

function complete(answer: Response | JsonAnswer, context: Call): Response | WholeAnswer {
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

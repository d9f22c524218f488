import type { Server } from 'bun'
import type { Config, SettingInForce } from '../config.ts'
import { type Clock, SECOND } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { Random } from '../domain/random.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { RequestMetrics } from '../metrics/request-metrics.ts'
import type { Services } from '../services/services.ts'
import type { TrafficCounter } from '../services/traffic.ts'
import type { Call, Site } from './call.ts'
import { addressBucket, clientAddress, parseTrustedProxies } from './client-address.ts'
import { errorResponse } from './errors.ts'
import { type Connection, type Flow, listen } from './listener.ts'
import type { Need } from './need.ts'
import { openApiDocument } from './openapi-document.ts'
import { EXPOSED_HEADERS } from './preflight.ts'
import { logged } from './request-log.ts'
import { createRouter, type Handed, routerPattern } from './router.ts'
import { routes } from './routes.ts'
import type { BuiltSite } from './site/built-site.ts'
import { siteError } from './site/pages.ts'
import { createUploadsUnderWay } from './uploads/under-way.ts'

export interface HttpServer {
  /** Where it listens. */
  readonly url: string
  /** Takes no new work, lets running uploads finish for up to 30 s, then closes every connection. */
  stop(): Promise<void>
}

const UPLOADS_MAY_TAKE = 30 * SECOND
const ANSWERS_MAY_TAKE = 5 * SECOND
/**
 * Seconds for which nothing may move on a connection: as long as Bun allows, because what a slow reader has not taken
 * out of a buffer of some megabytes looks like silence from here.
 */
const QUIET = 255

export function startServer(parts: {
  config: Config
  settings: readonly SettingInForce[]
  services: Services
  clock: Clock
  random: Random
  log: Log
  builtSite: BuiltSite
  metrics: Metrics | null
}): HttpServer {
  const { config, settings, services, clock, random, log, builtSite, metrics } = parts
  const trusted = parseTrustedProxies(config.trustedProxies)
  const underWay = createUploadsUnderWay()
  const router = createRouter(routes, builtSite.assets)
  const nextId = createRequestIds(random)
  let stopping = false

  const server = listen(
    {
      hostname: config.host,
      port: config.port,
      quiet: QUIET,
      streaming: streamingPaths(config),
      flow: flowOf(services.traffic, metrics?.requests ?? null),
    },
    answer,
    log,
  )
  const url = listeningUrl(server)
  const publicUrl = config.publicUrl ?? url
  let document: unknown

  const site: Site = {
    services,
    clock,
    config,
    settings,
    publicUrl,
    contentUrl: config.contentUrl ?? publicUrl,
    pages: builtSite.pages,
    uploadsUnderWay: underWay,
    report: (error) => log.error({ err: error }, 'failure'),
    openApi: () => {
      document ??= openApiDocument(routes, publicUrl)
      return document
    },
    metrics,
  }

  async function answer(request: Request, connection: Connection): Promise<Response> {
    const began = clock.monotonic()
    const id = nextId()
    const answerHeaders = new Map<string, string>()
    let call: Call | null = null
    let url: URL | null = null
    const makeCall = (params: Record<string, string>, need: Need | null): Call => {
      call = {
        site,
        request,
        get url() {
          url ??= new URL(request.url)
          return url
        },
        params,
        need,
        get address() {
          return clientAddress(connection.address, request.headers.get('x-forwarded-for'), trusted)
        },
        get bucket() {
          return addressBucket(this.address)
        },
        headers: answerHeaders,
        caller: null,
      }
      return call
    }
    const handed: Handed = { call: makeCall, route: '-' }
    const response = await (stopping
      ? shuttingDown(makeCall({}, null), connection)
      : connection.hasUrl
        ? router.fetch(request, handed)
        : unreadableAddress())
    for (const [name, value] of answerHeaders) {
      if (name === 'Set-Cookie') response.headers.append(name, value)
      else response.headers.set(name, value)
    }
    response.headers.set('X-Request-Id', id)
    response.headers.set('X-Content-Type-Options', 'nosniff')
    allowAnyOrigin(handed.route, response.headers)
    return logged(log, clock, {
      request,
      response,
      route: handed.route,
      id,
      began,
      caller: () => call?.caller ?? null,
      metrics: metrics?.requests ?? null,
      traffic: services.traffic,
      isStreaming: connection.isStreaming,
    })
  }

  return {
    url,
    async stop() {
      stopping = true
      services.watching.stop()
      // With other nodes behind a balancer, a refused connection sends the client to one of them.
      const closed = config.databaseUrl === null ? null : server.stop(false)
      await underWay.finished(UPLOADS_MAY_TAKE)
      // The answers of the last uploads are still on their way, and downloads that end soon may do so.
      const deadline = clock.monotonic() + ANSWERS_MAY_TAKE
      while (server.pendingRequests > 0 && clock.monotonic() < deadline) await Bun.sleep(10)
      await server.stop(true)
      await closed
    },
  }
}

/** Tells both of what streams. */
function flowOf(traffic: TrafficCounter, metrics: RequestMetrics | null): Flow {
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

function streamingPaths(config: Config): string[] {
  const streaming = routes.filter(({ streams }) =>
    streams === 'out of S3' ? config.s3 !== null : streams !== undefined,
  )
  return [...new Set(streaming.map(({ path }) => routerPattern(path)))]
}

/** Different for every request and every run of the program. */
function createRequestIds(random: Random): () => string {
  const run = Buffer.from(random(6)).toString('base64url')
  let count = 0
  return () => `${run}-${(++count).toString(36)}`
}

function listeningUrl(server: Server<undefined>): string {
  const { hostname = 'localhost', port } = server
  const isLocal = ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(hostname)
  const host = isLocal ? 'localhost' : hostname.includes(':') ? `[${hostname}]` : hostname
  return `http://${host}:${port}`
}

function shuttingDown(call: Call, { hasUrl }: Connection): Response {
  const refusal = new Refusal('SHUTTING_DOWN', 'The server is restarting; try again', 5)
  const response = hasUrl ? siteError(call, refusal) : errorResponse(refusal)
  response.headers.set('Connection', 'close')
  return response
}

/** What the Host header and the path make together is no address. */
function unreadableAddress(): Response {
  return errorResponse(new Refusal('INVALID_REQUEST', 'The Host header is missing or malformed'))
}

const pages = new Set(
  routes.filter(({ documentation }) => documentation.tag === 'Site').map(({ path }) => path),
)

/** The API may be called from any origin with a key; cookies play no part in it. Pages and metrics may not be. */
function allowAnyOrigin(route: string, headers: Headers): void {
  if (pages.has(route) || /^\/[dft]\/|^\/metrics$/.test(route)) return
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'private, no-store')
  headers.set('Access-Control-Allow-Origin', '*')
  headers.set('Access-Control-Expose-Headers', EXPOSED_HEADERS)
}

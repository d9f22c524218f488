import type { Server } from 'bun'
import type { Config, SettingInForce } from '../config.ts'
import { type Clock, SECOND } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { Random } from '../domain/random.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { RequestMetrics } from '../metrics/request-metrics.ts'
import { FileDamaged } from '../services/damage.ts'
import { outageRefusal } from '../services/failures.ts'
import type { Services } from '../services/services.ts'
import type { TrafficCounter } from '../services/traffic.ts'
import { Arrival } from './arrival.ts'
import type { Site } from './call.ts'
import { parseTrustedProxies } from './client-address.ts'
import { complete } from './complete.ts'
import { compressed, isCompressible } from './compress.ts'
import { errorResponse } from './errors.ts'
import { createHosts } from './hosts.ts'
import { JsonAnswer } from './json.ts'
import { type Connection, type Flow, listen } from './listener.ts'
import { openApiDocument } from './openapi-document.ts'
import { createRequestLog } from './request-log.ts'
import type { Route } from './route.ts'
import { createRouter, routerPattern } from './router.ts'
import { routes } from './routes.ts'
import type { BuiltSite } from './site/built-site.ts'
import { createSmallBodies } from './small-bodies.ts'
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
  let stopping = false
  const router = createRouter(routes, builtSite.assets, () => stopping)
  const nextId = createRequestIds(random)
  const requestMetrics = metrics?.requests ?? null
  const logged = createRequestLog({ log, clock, metrics: requestMetrics, traffic: services.traffic })

  const server = listen(
    {
      hostname: config.host,
      port: config.port,
      quiet: QUIET,
      ...pathsOf(config),
      flow: flowOf(services.traffic, requestMetrics),
      failed: failedBody,
    },
    answer,
    log,
  )
  const url = listeningUrl(server)
  const publicUrl = config.publicUrl ?? url
  let document: unknown
  let documentAnswer: JsonAnswer | null = null

  const site: Site = {
    services,
    clock,
    config,
    settings,
    publicUrl,
    contentUrl: config.contentUrl ?? publicUrl,
    hosts: createHosts(publicUrl, config.contentUrl ?? publicUrl),
    pages: builtSite.pages,
    uploadsUnderWay: underWay,
    smallBodies: createSmallBodies(clock),
    report: (error, request) => log.error({ ...(request && { id: request }), ...about(error) }, 'failure'),
    openApi: () => {
      document ??= openApiDocument(routes, publicUrl)
      return document
    },
    openApiAnswer: () => {
      documentAnswer ??= new JsonAnswer(site.openApi())
      return documentAnswer
    },
    metrics,
  }

  async function answer(request: Request, connection: Connection): Promise<Response> {
    const began = clock.monotonic()
    const arrival = new Arrival(site, request, connection, nextId(), trusted)
    const answered = await (connection.hasUrl ? router(arrival) : unreadableAddress())
    const whole = complete(answered, arrival)
    const sent = isCompressible(whole) ? await compressed(whole, answered, arrival) : whole
    return logged(arrival, sent, began)
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

/** The error as JSON, under the id that the request has in the log. */
function failedBody(error: unknown, headers: Headers): Response {
  const unknown = () =>
    new Refusal('INTERNAL_ERROR', 'The content could not be read; the request id tells where to look')
  const refusal = error instanceof Refusal ? error : (outageRefusal(error) ?? unknown())
  const response = errorResponse(refusal)
  response.headers.set('X-Request-Id', headers.get('X-Request-Id') ?? '')
  return response
}

function about(error: unknown): { err: unknown; file?: number; slug?: string } {
  return error instanceof FileDamaged
    ? { file: error.file.id, slug: error.file.slug, err: error }
    : { err: error }
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

/** Which paths are answered as streams, and which of the others must be named for not to be taken for one of those. */
function pathsOf(config: Config): { streaming: string[]; plain: string[] } {
  const isStreaming = ({ streams }: Route) =>
    streams === 'out of S3' ? config.s3 !== null : streams !== undefined
  const streaming = new Set(routes.filter(isStreaming).map(({ path }) => routerPattern(path)))
  const plain = routes.map(({ path }) => path).filter((path) => !path.includes('{') && !streaming.has(path))
  // With a slash at the end too, which leads to the same route.
  return { streaming: [...streaming].flatMap((path) => [path, `${path}/`]), plain: [...new Set(plain)] }
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

/** What the Host header and the path make together is no address. */
function unreadableAddress(): Response {
  return errorResponse(
    new Refusal('INVALID_REQUEST', 'The Host header is malformed, or there are two of them'),
  )
}

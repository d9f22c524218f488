import type { TrafficCounter } from '../core/traffic.ts'
import type { Clock } from '../domain/clock.ts'
import type { Log } from '../log.ts'
import { WholeAnswer } from './answers/known-body.ts'
import type { Sent } from './connections/exchange.ts'
import type { RequestContext } from './request-context.ts'
import { bytesRead } from './requests/body.ts'
import type { Trails } from './trails.ts'

export interface RequestWatch {
  /** `route`: the pattern; paths are unbounded. */
  answered(route: string, method: string, status: number, milliseconds: number): void
  received(bytes: number): void
  sent(bytes: number): void
  refusedConnection(): void
}

export type RequestLog = (context: RequestContext, response: Response | WholeAnswer, began: number) => void

const HEALTH_CHECKS = ['/health', '/ready', '/metrics']

/**
 * Logs and counts each request after its response, with actual status and bytes; endless event streams when they begin.
 * Omits URLs, which may contain tokens and search words.
 */
export function createRequestLog(parts: {
  log: Log
  clock: Clock
  metrics: RequestWatch | null
  traffic: TrafficCounter
  trails: Trails
}): RequestLog {
  const { log, clock, metrics, traffic, trails } = parts

  return (context, response, began) => {
    const { request, route, id } = context

    // An event stream's duration is no response time.
    const isEndless =
      !(response instanceof WholeAnswer) &&
      response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (isEndless) metrics?.answered(route, request.method, response.status, clock.monotonic() - began)

    function write({ status, bytes }: Sent): void {
      const who = context.caller
      const took = clock.monotonic() - began
      const { isStreaming } = context.connection
      // Actual bytes instead of Content-Length: an upload may break off.
      const received = isStreaming ? context.connection.received() : bytesRead(request)
      const fields = {
        method: request.method,
        route,
        status,
        bytes,
        received,
        ms: Math.round(took * 10) / 10,
        account: who?.kind === 'account' ? who.username : 'guest',
        id,
      }
      log.info(fields, 'request')
      trails.answered(context, { status, bytes }, took)
      // Health checks do not count, so that an idle server writes nothing.
      if (!HEALTH_CHECKS.includes(route)) traffic.requested()
      if (!isEndless) metrics?.answered(route, request.method, status, took)
      if (isStreaming || HEALTH_CHECKS.includes(route)) return
      traffic.received(received)
      traffic.sent(bytes)
      metrics?.received(received)
      metrics?.sent(bytes)
    }

    context.connection.whenOver(write)
  }
}

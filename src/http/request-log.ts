import type { Clock } from '../domain/clock.ts'
import type { Log } from '../log.ts'
import type { RequestMetrics } from '../metrics/request-metrics.ts'
import type { TrafficCounter } from '../services/traffic.ts'
import type { Arrival } from './arrival.ts'
import { bytesRead } from './body.ts'

/** Writes the line of an answered request. */
export type RequestLog = (arrival: Arrival, response: Response, began: number) => Response

const WATCHING = ['/health', '/ready', '/metrics']

/**
 * Writes each request's line and counts it, for a body without a known length when it has been sent. Events, which have no
 * end, are counted when they begin. Addresses are left out: they may hold tokens and search words.
 */
export function createRequestLog(parts: {
  log: Log
  clock: Clock
  /** Null where nothing is measured. */
  metrics: RequestMetrics | null
  traffic: TrafficCounter
}): RequestLog {
  const { log, clock, metrics, traffic } = parts

  return (arrival, response, began) => {
    const { request, route, id } = arrival

    // How long somebody wants to hear of events says nothing about how fast they are answered.
    const isEndless = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (isEndless) metrics?.answered(route, request.method, response.status, clock.monotonic() - began)

    function write(bytes: number): void {
      const who = arrival.caller
      const took = clock.monotonic() - began
      const { isStreaming } = arrival.connection
      // What has come, whatever length the request claims: an upload may break off.
      const received = isStreaming ? arrival.connection.received() : bytesRead(request)
      const fields = {
        method: request.method,
        route,
        status: response.status,
        bytes,
        received,
        ms: Math.round(took * 10) / 10,
        account: who?.kind === 'account' ? who.username : 'guest',
        id,
      }
      log.info(fields, 'request')
      // An idle server writes nothing because somebody asks whether it lives.
      if (!WATCHING.includes(route)) traffic.requested()
      if (!isEndless) metrics?.answered(route, request.method, response.status, took)
      if (isStreaming || WATCHING.includes(route)) return
      traffic.received(received)
      traffic.sent(bytes)
      metrics?.received(received)
      metrics?.sent(bytes)
    }

    const length = response.headers.get('content-length')
    if (length !== null || response.body === null) {
      write(request.method === 'HEAD' ? 0 : Number(length ?? 0))
      return response
    }
    return new Response(counting(response.body, request.signal, write), response)
  }
}

/** Passes the body on and tells its length once, when it has been sent or its reader has gone. */
function counting(
  body: ReadableStream<Uint8Array>,
  gone: AbortSignal,
  tell: (bytes: number) => void,
): ReadableStream<Uint8Array> {
  let bytes = 0
  let told = false
  const finish = () => {
    if (!told) tell(bytes)
    told = true
  }
  gone.addEventListener('abort', finish, { once: true })
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength
        controller.enqueue(chunk)
      },
      flush: finish,
    }),
  )
}

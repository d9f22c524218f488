import type { Family } from './exposition.ts'
import { createHistogram, type Histogram } from './histogram.ts'

/** Metrics of HTTP requests and traffic. */
export interface RequestMetrics {
  /** `route`: the pattern, never the path, whose number is unbounded. */
  answered(route: string, method: string, status: number, milliseconds: number): void
  received(bytes: number): void
  sent(bytes: number): void
  refusedConnection(): void
  families(): readonly Family[]
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** Known methods; a client may send any other word. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const OTHER = 'other'

/** Series of one route and method. */
interface Series {
  readonly route: string
  readonly method: string
  readonly statuses: Map<number, number>
  readonly seconds: Histogram
}

export function createRequestMetrics(): RequestMetrics {
  /** By route, then by method: nested maps avoid building a combined key at every request. */
  const series = new Map<string, Map<string, Series>>()
  let received = 0
  let sent = 0
  let refused = 0

  function seriesOf(route: string, asked: string): Series {
    const ofRoute = series.get(route) ?? new Map<string, Series>()
    series.set(route, ofRoute)
    const method = METHODS.has(asked) ? asked : OTHER
    const known = ofRoute.get(method)
    if (known !== undefined) return known
    const made = { route, method, statuses: new Map<number, number>(), seconds: createHistogram(SECONDS) }
    ofRoute.set(method, made)
    return made
  }

  return {
    answered(route, method, status, milliseconds) {
      const { statuses, seconds } = series.get(route)?.get(method) ?? seriesOf(route, method)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      seconds.observe(milliseconds / 1000)
    },

    received(bytes) {
      received += bytes
    },

    sent(bytes) {
      sent += bytes
    },

    refusedConnection() {
      refused += 1
    },

    families() {
      const all = [...series.values()].flatMap((ofRoute) => [...ofRoute.values()])
      return [
        {
          name: 'holdfast_http_requests_total',
          help: 'Answered requests.',
          type: 'counter',
          samples: all.flatMap(({ route, method, statuses }) =>
            [...statuses].map(([status, value]) => ({
              labels: { route, method, status: String(status) },
              value,
            })),
          ),
        },
        {
          name: 'holdfast_http_request_duration_seconds',
          help: 'Time until the answer has been sent; for streams of events, until it begins.',
          type: 'histogram',
          samples: all.flatMap(({ route, method, seconds }) => seconds.samples({ route, method })),
        },
        {
          name: 'holdfast_http_received_bytes_total',
          help: 'Bytes of request bodies.',
          type: 'counter',
          samples: [{ value: received }],
        },
        {
          name: 'holdfast_http_sent_bytes_total',
          help: 'Bytes of answer bodies.',
          type: 'counter',
          samples: [{ value: sent }],
        },
        {
          name: 'holdfast_http_refused_connections_total',
          help: 'Connections closed because their address had too many.',
          type: 'counter',
          samples: [{ value: refused }],
        },
      ]
    },
  }
}

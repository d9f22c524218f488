import { expositionOf, type Family } from './exposition.ts'
import { watchLoopLag } from './loop-lag.ts'
import { processFamilies } from './process.ts'
import { createRequestMetrics, type RequestMetrics } from './request-metrics.ts'
import { createTimed, type Timed } from './timed.ts'

/** Metrics of this node. Only created where metrics are on. */
export interface Metrics {
  readonly requests: RequestMetrics
  /** Runs of background jobs. */
  readonly jobs: Timed
  /** Requests to an S3 store. */
  readonly store: Timed
  /** The exposition for Prometheus, followed by the families that `ask` samples now. */
  text(ask: () => Promise<readonly Family[]>): Promise<string>
  stop(): void
}

/** `now`: monotonic milliseconds. */
export function createMetrics(version: string, now: () => number): Metrics {
  const requests = createRequestMetrics()
  const jobs = createTimed(
    {
      runs: { name: 'holdfast_job_runs_total', help: 'Runs of background jobs here, by how they ended.' },
      seconds: { name: 'holdfast_job_duration_seconds', help: 'How long they took.' },
      // The label "job" is reserved by Prometheus for its targets.
      kind: 'task',
      outcome: 'outcome',
      bounds: [0.001, 0.01, 0.1, 1, 10, 60, 600],
    },
    now,
  )
  const store = createTimed(
    {
      runs: {
        name: 'holdfast_s3_requests_total',
        help: 'Requests to the S3 store, every try, by the status of the answer.',
      },
      seconds: { name: 'holdfast_s3_request_duration_seconds', help: 'Time until the head of the answer.' },
      kind: 'method',
      outcome: 'status',
      bounds: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    },
    now,
  )
  const lag = watchLoopLag()
  return {
    requests,
    jobs,
    store,
    async text(ask) {
      const asked = await ask()
      const families = [requests, jobs, store, lag].flatMap((each) => each.families())
      return expositionOf([...asked, ...families, ...processFamilies(version)])
    },
    stop: () => lag.stop(),
  }
}

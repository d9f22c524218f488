import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** A gauge that is sampled when Prometheus asks; without a sample its name and help alone are told. */
export interface SampledGauge {
  readonly name: string
  readonly help: string
  readonly samples: readonly {
    readonly labels?: Readonly<Record<string, string>>
    readonly value: number
  }[]
}

/** Begins an operation of a kind; the returned function counts how it ended. Kinds and outcomes must be few. */
export type Timed = (kind: string) => (outcome: string) => void

/** Monotonic milliseconds. */
export function createMetrics(version: string, now: () => number) {
  const registry = new Registry()
  const registers = [registry]
  const requests = createRequestMetrics(registers)
  const jobs = createTimed(registers, now, {
    runs: { name: 'holdfast_job_runs_total', help: 'Runs of background jobs here, by how they ended.' },
    seconds: { name: 'holdfast_job_duration_seconds', help: 'How long they took.' },
    // The label "job" is reserved by Prometheus for its targets.
    kind: 'task',
    outcome: 'outcome',
    buckets: [0.001, 0.01, 0.1, 1, 10, 60, 600],
  })
  const store = createTimed(registers, now, {
    runs: {
      name: 'holdfast_s3_requests_total',
      help: 'Requests to the S3 store, every try, by the status of the answer.',
    },
    seconds: { name: 'holdfast_s3_request_duration_seconds', help: 'Time until the head of the answer.' },
    kind: 'method',
    outcome: 'status',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  })
  addProcess(registers, version)
  return {
    requests,
    jobs,
    store,

    /** Media type of `text`. */
    type: Registry.PROMETHEUS_CONTENT_TYPE,

    /** The exposition for Prometheus: the gauges that `sample` reads now, and what was counted. */
    async text(sample: () => Promise<readonly SampledGauge[]>): Promise<string> {
      const sampled = new Registry()
      for (const gauge of await sample()) addSampled(sampled, gauge)
      return `${await sampled.metrics()}${await registry.metrics()}`
    },

    stop: watchLoopLag(registers),
  }
}

export type Metrics = ReturnType<typeof createMetrics>

function addSampled(registry: Registry, { name, help, samples }: SampledGauge): void {
  const labelNames = [...new Set(samples.flatMap(({ labels = {} }) => Object.keys(labels)))]
  const gauge = new Gauge({ name, help, labelNames, registers: [registry] })
  // One without labels begins at 0.
  if (samples.length === 0) gauge.remove()
  for (const { labels = {}, value } of samples) gauge.set({ ...labels }, value)
}

interface TimedNames {
  readonly runs: { readonly name: string; readonly help: string }
  readonly seconds: { readonly name: string; readonly help: string }
  /** Names of the labels. */
  readonly kind: string
  readonly outcome: string
  /** Upper bounds, in seconds. */
  readonly buckets: number[]
}

function createTimed(registers: Registry[], now: () => number, names: TimedNames): Timed {
  const { kind, outcome, buckets } = names
  const runs = new Counter({ ...names.runs, labelNames: [kind, outcome], registers })
  const seconds = new Histogram({ ...names.seconds, labelNames: [kind], buckets, registers })
  return (which) => {
    const began = now()
    return (how) => {
      runs.inc({ [kind]: which, [outcome]: how })
      seconds.observe({ [kind]: which }, (now() - began) / 1000)
    }
  }
}

/** Known methods; a client may send any other word. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const OTHER = 'other'

/** Metrics of HTTP requests and traffic. */
function createRequestMetrics(registers: Registry[]) {
  const counter = (name: string, help: string) => new Counter({ name, help, registers })
  const requests = new Counter({
    name: 'holdfast_http_requests_total',
    help: 'Answered requests.',
    labelNames: ['route', 'method', 'status'],
    registers,
  })
  const seconds = new Histogram({
    name: 'holdfast_http_request_duration_seconds',
    help: 'Time until the answer has been sent; for streams of events, until it begins.',
    labelNames: ['route', 'method'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  })
  const received = counter('holdfast_http_received_bytes_total', 'Bytes of request bodies.')
  const sent = counter('holdfast_http_sent_bytes_total', 'Bytes of answer bodies.')
  const refused = counter(
    'holdfast_http_refused_connections_total',
    'Connections closed because their address had too many.',
  )
  return {
    /** `route`: the pattern, never the path, whose number is unbounded. */
    answered(route: string, asked: string, status: number, milliseconds: number): void {
      const method = METHODS.has(asked) ? asked : OTHER
      requests.inc({ route, method, status })
      seconds.observe({ route, method }, milliseconds / 1000)
    },

    received: (bytes: number): void => received.inc(bytes),
    sent: (bytes: number): void => sent.inc(bytes),
    refusedConnection: (): void => refused.inc(),
  }
}

/** Process metrics under the names that Prometheus' client libraries use; `collectDefaultMetrics` reads what only Node has. */
function addProcess(registers: Registry[], version: string): void {
  new Gauge({
    name: 'holdfast_build_info',
    help: 'The version that runs.',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1)
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'User and system time.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  const gauge = (name: string, help: string, read: () => number) => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })
  }
  gauge('process_resident_memory_bytes', 'Memory in use.', () => process.memoryUsage.rss())
  gauge('process_heap_bytes', 'What of it is held by JavaScript.', () => process.memoryUsage().heapUsed)
  gauge('process_start_time_seconds', 'When it began, since the epoch.', () =>
    Math.round(performance.timeOrigin / 1000),
  )
}

/** Milliseconds between samples: frequent enough to catch blocking work, at negligible cost. */
const EVERY = 100

/** Measures event loop lag by how late a timer fires; requests are delayed as much. Returns what ends it. */
function watchLoopLag(registers: Registry[]): () => void {
  const lag = new Histogram({
    name: 'holdfast_event_loop_lag_seconds',
    help: 'How late a timer is that looks ten times a second.',
    buckets: [0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers,
  })
  // The machine's clock, because the injected clock of tests does not advance.
  let due = performance.now() + EVERY
  const timer = setInterval(() => {
    const now = performance.now()
    lag.observe(Math.max(0, now - due) / 1000)
    due = now + EVERY
  }, EVERY)
  timer.unref()
  return () => clearInterval(timer)
}

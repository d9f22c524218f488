import type { Family } from './exposition.ts'

/** Process metrics under the names that Prometheus' client libraries use. */
export function processFamilies(version: string): readonly Family[] {
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed } = process.memoryUsage()
  const started = Math.round(performance.timeOrigin / 1000)
  return [
    {
      ...gauge('holdfast_build_info', 'The version that runs.'),
      samples: [{ labels: { version }, value: 1 }],
    },
    {
      name: 'process_cpu_seconds_total',
      help: 'User and system time.',
      type: 'counter',
      samples: [{ value: (user + system) / 1e6 }],
    },
    { ...gauge('process_resident_memory_bytes', 'Memory in use.'), samples: [{ value: rss }] },
    { ...gauge('process_heap_bytes', 'What of it is held by JavaScript.'), samples: [{ value: heapUsed }] },
    {
      ...gauge('process_start_time_seconds', 'When it began, since the epoch.'),
      samples: [{ value: started }],
    },
  ]
}

function gauge(name: string, help: string) {
  return { name, help, type: 'gauge' } as const
}

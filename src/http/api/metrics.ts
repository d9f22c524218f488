import { createHash, timingSafeEqual } from 'node:crypto'
import { z } from '@hono/zod-openapi'
import { Refusal } from '../../domain/errors.ts'
import { EXPOSITION_TYPE, type Family } from '../../metrics/exposition.ts'
import { bearerKey, type Site } from '../call.ts'
import type { Route } from '../route.ts'

export const getMetrics: Route = {
  method: 'get',
  path: '/metrics',
  auth: 'none',
  documentation: {
    summary: 'How this node does, for Prometheus; 404 unless it is switched on',
    tag: 'Health',
    answers: {
      200: {
        description: 'Prometheus’ text format',
        type: 'text/plain',
        schema: z.string().openapi({ example: '# TYPE holdfast_files gauge\nholdfast_files 12\n' }),
      },
    },
    errors: [401, 404],
  },
  async handle({ site, request }) {
    const { metrics, config } = site
    if (metrics === null || config.metrics === null) {
      throw new Refusal('NOT_FOUND', 'There is nothing at this address')
    }
    const { token } = config.metrics
    if (token !== null && !isSame(bearerKey(request) ?? '', token)) {
      throw new Refusal('INVALID_API_KEY', 'The token of HOLDFAST_METRICS_TOKEN is needed here')
    }
    const text = await metrics.text(() => presentFamilies(site))
    return new Response(text, { headers: { 'Content-Type': EXPOSITION_TYPE, 'Cache-Control': 'no-store' } })
  },
}

/** Takes the same time however much of it is right. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(wanted))
}

/** What is not counted as it happens, but looked at now. Without a database, what only it knows is left out. */
async function presentFamilies({ services, uploadsUnderWay }: Site): Promise<readonly Family[]> {
  const figures = await services.figures.installation()
  const space = await services.diskWatch.look().catch(() => null)
  const pools = Object.entries(services.figures.pools())
  const ofPools = (key: 'busy' | 'idle' | 'waiting' | 'most') =>
    pools.map(([pool, use]) => ({ labels: { pool }, value: use[key] }))
  const always: Family[] = [
    gauge('holdfast_uploads_in_progress', 'Requests that bring bytes of files to this node now.', [
      { value: uploadsUnderWay.count() },
    ]),
    gauge('holdfast_database_up', '1 while the database answers.', [{ value: figures === null ? 0 : 1 }]),
    gauge('holdfast_database_connections_busy', 'Connections in use, by pool.', ofPools('busy')),
    gauge('holdfast_database_connections_idle', 'Open connections that nobody uses.', ofPools('idle')),
    gauge('holdfast_database_connections_max', 'Connections there may be.', ofPools('most')),
    gauge('holdfast_database_waiting', 'Queries that wait for a connection.', ofPools('waiting')),
  ]
  const { free = null, floor = 0 } = space ?? {}
  // Where no disk of this machine is needed, there are no values.
  always.push(
    gauge(
      'holdfast_disk_free_bytes',
      'Left on the disk that uploads need.',
      free === null ? [] : [{ value: free }],
    ),
    gauge(
      'holdfast_disk_floor_bytes',
      'What uploads leave free: HOLDFAST_MIN_FREE_SPACE.',
      free === null ? [] : [{ value: floor }],
    ),
  )
  if (figures === null) return always
  return [
    ...always,
    gauge('holdfast_files', 'Files of all accounts and guests.', [{ value: figures.files }]),
    gauge('holdfast_storage_used_bytes', 'What they weigh.', [{ value: figures.bytes }]),
    gauge('holdfast_storage_reserved_bytes', 'Set aside for uploads under way.', [
      { value: figures.reserved },
    ]),
    gauge('holdfast_thumbnails_waiting', 'Contents whose thumbnail is still to be made.', [
      { value: figures.thumbnailsWaiting },
    ]),
    gauge(
      'holdfast_jobs_set_aside',
      'Background jobs that failed too often in a row and wait for a day.',
      figures.jobsSetAside.map((job) => ({ labels: { task: job }, value: 1 })),
    ),
  ]
}

function gauge(name: string, help: string, samples: Family['samples']): Family {
  return { name, help, type: 'gauge', samples }
}

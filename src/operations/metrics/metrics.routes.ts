import { createHash, timingSafeEqual } from 'node:crypto'
import * as z from 'zod/mini'
import { described } from '../../contract/fields.ts'
import { type Clock, SECOND } from '../../domain/clock.ts'
import { Refusal, wrongSecret } from '../../domain/errors.ts'
import { bearerKey, type Site } from '../../server/call.ts'
import { endpoint } from '../../server/endpoint.ts'
import type { InstallationFigures } from '../figures.ts'
import type { OperationsModule } from '../operations.module.ts'
import type { SampledGauge } from './metrics.ts'

/** Milliseconds. */
const ANSWERS_WITHIN = 4 * SECOND

export const getMetricsEndpoint = endpoint({
  documentation: {
    summary: 'Get metrics',
    description: 'Of this node, for Prometheus; 404 unless they are switched on.',
    tag: 'Health',
    answers: {
      200: {
        description: 'Prometheus’ text format',
        type: 'text/plain',
        schema: described(z.string(), { example: '# TYPE holdfast_files gauge\nholdfast_files 12\n' }),
      },
    },
    errors: [401, 404],
  },
  async handle({ site, request }, { operations }: { operations: OperationsModule }) {
    const { metrics } = operations
    const { config } = site
    if (metrics === null || config.metrics === null) {
      throw new Refusal('NOT_FOUND', 'There is nothing at this address')
    }
    const { token } = config.metrics
    const given = bearerKey(request)
    if (token !== null && !isSame(given ?? '', token)) {
      const message = 'The token of HOLDFAST_METRICS_TOKEN is needed here'
      if (given === null) throw new Refusal('INVALID_API_KEY', message)
      throw wrongSecret('INVALID_API_KEY', message, 'metrics token')
    }
    const text = await metrics.text(() => presentFamilies(site, operations))
    return new Response(text, { headers: { 'Content-Type': metrics.type, 'Cache-Control': 'no-store' } })
  },
})

/** Compares in constant time. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(wanted))
}

/** Metrics that are sampled on request. Those from the database are omitted when it is unavailable. */
async function presentFamilies(
  { uploadsUnderWay, clock }: Site,
  { figures: installation, diskLoad, diskWatch, readiness, removing }: OperationsModule,
): Promise<readonly SampledGauge[]> {
  const [figures, isStoreUp] = await Promise.all([
    installation.installation(),
    soonOr(clock, false, async () => (await readiness.check()).store),
  ])
  const mayRemove =
    isStoreUp && figures !== null ? await soonOr(clock, null, () => removing.isAllowed()) : null
  const space = await diskWatch.look().catch(() => null)
  const pools = Object.entries(installation.pools())
  const ofPools = (key: 'busy' | 'idle' | 'waiting' | 'most') =>
    pools.map(([pool, use]) => ({ labels: { pool }, value: use[key] }))
  const always: SampledGauge[] = [
    gauge('holdfast_uploads_in_progress', 'Requests that bring bytes of files to this node now.', [
      { value: uploadsUnderWay.count },
    ]),
    gauge('holdfast_database_up', '1 while the database answers.', [{ value: figures === null ? 0 : 1 }]),
    gauge('holdfast_store_up', '1 while the store of the bytes works.', [{ value: isStoreUp ? 1 : 0 }]),
    gauge(
      'holdfast_removals_held_back',
      '1 while no bytes are removed because the database is older than what its store has seen.',
      mayRemove === null ? [] : [{ value: mayRemove ? 0 : 1 }],
    ),
    gauge('holdfast_database_connections_busy', 'Connections in use, by pool.', ofPools('busy')),
    gauge('holdfast_database_connections_idle', 'Open connections that nobody uses.', ofPools('idle')),
    gauge('holdfast_database_connections_max', 'Connections there may be.', ofPools('most')),
    gauge('holdfast_database_waiting', 'Queries that wait for a connection.', ofPools('waiting')),
  ]
  const { free = null, floor = 0 } = space ?? {}
  // Without a local disk the gauge has no samples.
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
  const pressure = await diskLoad.pressure()
  always.push(
    gauge(
      'holdfast_disk_pressure_ratio',
      'Part of the last ten seconds in which some work on this machine waited for a disk.',
      pressure === null ? [] : [{ value: pressure }],
    ),
    gauge(
      'holdfast_scrub_paused',
      '1 while stored bytes that are due are not read again here because the disk is busy.',
      [{ value: diskLoad.isWaitedFor() ? 1 : 0 }],
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
    ...storedBytes(figures),
    ...backups(figures.backups),
    gauge(
      'holdfast_jobs_set_aside',
      'Background jobs that failed too often in a row and wait for a day.',
      figures.jobsSetAside.map((job) => ({ labels: { task: job }, value: 1 })),
    ),
  ]
}

function storedBytes(figures: InstallationFigures): readonly SampledGauge[] {
  return [
    gauge('holdfast_damaged_contents', 'Contents that are marked as damaged and are not sent.', [
      { value: figures.damagedContents },
    ]),
    gauge(
      'holdfast_repaired_contents',
      'Contents that were damaged in the last 400 days and are sound again.',
      [{ value: figures.repairedContents }],
    ),
    gauge(
      'holdfast_oldest_unverified_seconds',
      'Since the bytes that wait the longest for it were verified or stored.',
      figures.oldestUnverified === null ? [] : [{ value: figures.oldestUnverified / SECOND }],
    ),
    gauge(
      'holdfast_mirror_oldest_seconds',
      'How long the oldest content has waited for its copy in the mirror.',
      figures.mirrorLag === null ? [] : [{ value: figures.mirrorLag / SECOND }],
    ),
    gauge(
      'holdfast_mirror_mark_number',
      'Number of the mark of the mirror, which grows with what is copied and removed, and its series.',
      figures.mirrorMark === null
        ? []
        : [{ labels: { series: figures.mirrorMark.series }, value: figures.mirrorMark.number }],
    ),
    gauge(
      'holdfast_mirror_unverified_seconds',
      'Since which time every copy in the mirror was read, or made.',
      figures.mirrorRead === null ? [] : [{ value: figures.mirrorRead.age / SECOND }],
    ),
    gauge(
      'holdfast_mirror_damaged_copies',
      'Copies in the mirror that were damaged when they were last read, and are made anew.',
      figures.mirrorRead === null ? [] : [{ value: figures.mirrorRead.wrong }],
    ),
  ]
}

function backups(figures: InstallationFigures['backups']): readonly SampledGauge[] {
  const sampled = (value: number | null) => (value === null ? [] : [{ value }])
  const isDrillGood = figures?.isDrillGood ?? null
  const catalog = figures?.catalog ?? null
  return [
    gauge(
      'holdfast_backup_age_seconds',
      'Since the moment that the newest backup of the server has.',
      sampled(figures && figures.age / SECOND),
    ),
    gauge(
      'holdfast_backup_interval_seconds',
      'From one backup to the next: HOLDFAST_BACKUP_HOURS.',
      sampled(figures && figures.every / SECOND),
    ),
    gauge(
      'holdfast_backup_catalog_number',
      'Number of the catalog of the backup, which grows with each one, and its series.',
      catalog === null ? [] : [{ labels: { series: catalog.series }, value: catalog.number }],
    ),
    gauge(
      'holdfast_drill_good',
      '1 when the last rehearsal of a restore brought everything back, 0 when not.',
      sampled(isDrillGood === null ? null : Number(isDrillGood)),
    ),
  ]
}

/** What is found out, or the other value when that fails or takes longer: Prometheus waits for ten seconds. */
async function soonOr<T>({ timers }: Clock, otherwise: T, ask: () => Promise<T>): Promise<T> {
  const silence = Promise.withResolvers<T>()
  const cancel = timers.after(ANSWERS_WITHIN, () => silence.resolve(otherwise))
  try {
    return await Promise.race([ask().catch(() => otherwise), silence.promise])
  } finally {
    cancel()
  }
}

function gauge(name: string, help: string, samples: SampledGauge['samples']): SampledGauge {
  return { name, help, samples }
}

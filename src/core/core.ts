import { hostname } from 'node:os'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Config } from '../config.ts'
import type { Database } from '../database/database.ts'
import type { PoolUse } from '../database/postgres.ts'
import { endsWithin } from '../domain/abort.ts'
import { type Clock, HOUR, MINUTE, SECOND, yieldToEventLoop } from '../domain/clock.ts'
import type { Random } from '../domain/random.ts'
import type { Log } from '../log.ts'
import { versionWithCommit } from '../program/version.ts'
import { type AuditLog, createAuditLog } from './audit-log.ts'
import { type Branding, createBranding } from './branding.ts'
import { ageChanges, dropForgotten } from './changes.rows.ts'
import { createSigning, type Signing } from './hmac.ts'
import {
  createLocalClaims,
  createSharedClaims,
  dropJobs,
  type JobClaims,
  keptFailures,
  type LocalClaims,
} from './jobs/job-leases.ts'
import type { Job } from './jobs/jobs.ts'
import type { NodePlace } from './nodes/nodes.ts'
import { HEARTBEAT_INTERVAL, joinNodes, type Nodes } from './nodes/nodes.ts'
import { createOutages, type Outages } from './outages.ts'
import { createRateLimits, type RateLimits } from './rate-limits/rate-limits.ts'
import { createSharedRateLimits } from './rate-limits/shared-rate-limits.ts'
import { countStart, createRemovalGuard, type RemovalGuard } from './store/generations.ts'
import { assertPaired } from './store/pairing.ts'
import {
  createReadiness,
  createStoreHealth,
  guardStore,
  type Readiness,
  type StoreHealth,
} from './store/store-health.ts'
import { createTrafficCounter, type TrafficCounter } from './traffic.ts'

export interface CoreNeeds {
  readonly config: Config
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly shutdown: ShutdownHooks
  readonly db: Database
  /** For writes that may be lost and must not delay a request: rate windows, counters. */
  readonly nonDurableDb: Database
  readonly isShared: boolean
  pools(): Readonly<Record<string, PoolUse>>
  /** Free bytes on the database's disk; null for a remote database. */
  freeSpace(): Promise<number | null>
  readonly blobs: BlobStore
  readonly removing: RemovalGuard
  /** HMAC key for addresses, receipts and folder cookies. */
  readonly secret: string
  /** Without a trailing slash. Must not be called before the server listens. */
  publicUrl(): string
}

export interface Core extends Omit<CoreNeeds, 'secret'> {
  readonly nodes: Nodes
  readonly health: StoreHealth
  readonly readiness: Readiness
  readonly rates: RateLimits
  readonly traffic: TrafficCounter
  readonly signing: Signing
  readonly auditLog: AuditLog
  readonly branding: Branding
  readonly guard: ClockGuard
  readonly outages: Outages
  readonly claims: JobClaims
  /** In memory; undefined when the database is shared. */
  readonly history: LocalClaims['history'] | undefined
  /** A handler that logs errors under the message. */
  failed(message: string): (error: unknown) => void
  readonly jobs: readonly Job[]
}

/** Increments the pair's generation. Throws WrongStore unless database and store belong together. */
export async function pairUp(
  store: BlobStore,
  { db, clock, random, log }: Pick<CoreNeeds, 'db' | 'clock' | 'random' | 'log'>,
): Promise<Pick<CoreNeeds, 'blobs' | 'removing'>> {
  const mark = await assertPaired(db, store, random)
  const atStart = await countStart(db, store)
  const removing = createRemovalGuard({ db, blobs: store, clock, log, atStart })
  return { blobs: guardStore(store, { mark, removing, clock }), removing }
}

function placeOf({ host, port }: Config): NodePlace {
  const named = host.includes(':') ? `[${host}]` : host
  return { host: hostname(), address: `${named}:${port}`, version: versionWithCommit() }
}

export async function createCore(needs: CoreNeeds): Promise<Core> {
  const { clock, random, log, shutdown, db, nonDurableDb, isShared, blobs, secret } = needs
  const failed = (message: string) => (error: unknown) => log.error({ err: error }, message)
  // Timers send heartbeats, so their clock measures the age.
  const beats = { now: clock.now, monotonic: clock.timers.monotonic }
  const nodes = await joinNodes({
    db,
    clock: beats,
    random,
    log,
    alone: !isShared,
    place: placeOf(needs.config),
  })
  shutdown.add('leaving the other nodes', nodes.leave)
  const health = createStoreHealth(blobs, failed('the blob store failed'))
  const rates = isShared ? createSharedRateLimits(nonDurableDb, clock) : await createRateLimits(db, clock)
  // Job rows of an earlier process that was alone are stale.
  if (!isShared) await dropJobs(db, 'all')
  const localClaims = isShared ? null : createLocalClaims(clock, keptFailures(db))
  const outages = await createOutages({ db, clock, timers: clock.timers, log })
  shutdown.add('noting when the service stopped', () =>
    outages.note().catch(failed('the time of the stop could not be recorded')),
  )
  const branding = createBranding(db, clock, needs.config)
  await branding.refresh()
  const built = {
    nodes,
    health,
    rates,
    traffic: createTrafficCounter(nonDurableDb, clock),
    outages,
    branding,
  }
  return {
    ...needs,
    ...built,
    readiness: createReadiness(db, health, clock),
    signing: createSigning(secret),
    auditLog: createAuditLog(db),
    guard: createClockGuard(clock),
    // A database crash may forget the last leases: jobs are repeatable and need not wait for the disk.
    claims: localClaims ?? createSharedClaims(nonDurableDb, nodes, clock),
    history: localClaims?.history,
    failed,
    jobs: coreJobs(db, built),
  }
}

function coreJobs(
  db: Database,
  {
    nodes,
    outages,
    branding,
    traffic,
    rates,
    health,
  }: Pick<Core, 'nodes' | 'outages' | 'branding' | 'traffic' | 'rates' | 'health'>,
): readonly Job[] {
  const changes = createChanges(db)
  return [
    { name: 'beat', on: 'every node', every: HEARTBEAT_INTERVAL, run: () => nodes.beat() },
    { name: 'watch other nodes', on: 'every node', every: HEARTBEAT_INTERVAL, run: () => nodes.removeDead() },
    { name: 'note that the service runs', on: 'every node', every: MINUTE, run: () => outages.note() },
    { name: 'read the branding', on: 'every node', every: 2 * SECOND, run: () => branding.refresh() },
    { name: 'write traffic', on: 'every node', every: 10 * SECOND, run: () => traffic.flush() },
    { name: 'write rate windows', on: 'every node', every: SECOND, run: () => rates.flush() },
    { name: 'probe a broken store', on: 'every node', every: 10 * SECOND, run: () => health.recover() },
    { name: 'forget old changes', on: 'one node', every: 10 * MINUTE, run: () => changes.forgetOld() },
  ]
}

interface Changes {
  /** Deletes changes that existed at the previous call. */
  forgetOld(mayGoOn?: () => boolean): Promise<void>
}

const STEP = 500

function createChanges(db: Database): Changes {
  return {
    async forgetOld(mayGoOn = () => true) {
      await ageChanges(db)
      while (mayGoOn() && (await dropForgotten(db, STEP)) === STEP) await yieldToEventLoop()
    },
  }
}

/** Time limit per resource, after all requests have ended. */
const CLOSING_MAY_TAKE = 10 * SECOND

/** Resources are closed in reverse order when the server stops or fails to start. */
export interface ShutdownHooks {
  /** The returned function closes earlier, once. After the time limit a close is abandoned, like after a kill. */
  add(what: string, close: () => Promise<void>): () => Promise<void>
  /** Without a time limit. */
  addSlow(close: () => void | Promise<void>): void
  all(): Promise<void>
}

export function createShutdownHooks(log: Log): ShutdownHooks {
  const open = new AsyncDisposableStack()
  return {
    add(what, close) {
      let closed: Promise<void> | null = null
      const attempt = async () => {
        if (await endsWithin(CLOSING_MAY_TAKE, close())) return
        log.warn({ what }, 'stopping without waiting any longer')
      }
      const once = () => (closed ??= attempt())
      open.defer(once)
      return once
    },
    addSlow: (close) => open.defer(close),
    all: () => open.disposeAsync(),
  }
}

/** Irreversible work waits until both clocks agree for a while: a wrongly set clock then deletes nothing. */
export interface ClockGuard {
  /** Milliseconds of agreement; 0 just after a start or a leap. Must be called often. */
  agreedFor(): number
}

const LEAP = HOUR

export function createClockGuard(clock: Clock): ClockGuard {
  let since = clock.monotonic()
  let difference = clock.now() - since

  return {
    agreedFor() {
      const monotonic = clock.monotonic()
      const present = clock.now() - monotonic
      if (Math.abs(present - difference) > LEAP) {
        since = monotonic
        difference = present
      }
      return monotonic - since
    },
  }
}

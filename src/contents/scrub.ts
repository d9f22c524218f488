/** Reads stored bytes again, the longest unread first, to find damage before a download does. */
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Config } from '../config.ts'
import type { Core } from '../core/core.ts'
import { oldestUnverified, type UnverifiedCopy } from '../core/damage.rows.ts'
import type { Database } from '../database/database.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import type { BlobId } from '../domain/ids.ts'
import type { Log } from '../log.ts'
import { type BlobRow, findContent } from './contents.rows.ts'
import { DamageMarker, markFound } from './damage.ts'
import { createThrottle, type DiskLoad } from './pace.ts'
import { confirmed, isDamagedBlob, readDamage } from './reading.ts'
import { WalkLeft, walk } from './walk.ts'

export const SCRUB_JOB = 'read stored bytes again'

const USUAL_DAYS = 30
/** Share of the interval after which bytes are due; the rest is time to read a backlog without load. */
export const DUE_AFTER = 0.9
/** Contents verified in one transaction; a kill reads at most these again. */
const BATCH = 100

/** Days between reads; 0: never. Off by default for S3, where reads cost money. */
export function scrubDays({ scrubDays: days, s3 }: Pick<Config, 'scrubDays' | 's3'>): number {
  return days ?? (s3 === null ? USUAL_DAYS : 0)
}

export interface ScrubParts {
  readonly db: Database
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly log: Log
  readonly config: Pick<Config, 'scrubDays' | 'scrubRate' | 's3'>
  readonly diskLoad: Pick<DiskLoad, 'quiet'>
}

/**
 * Reads all contents due, at the configured rate, until `mayGoOn` returns false or the disk stays busy.
 * Overdue contents are read even on a busy disk. Contents damaged at two looks are marked. Throws
 * TooMuchDamage, WrongStore, and what the store throws; contents read before stay verified.
 */
export async function scrub(parts: ScrubParts, mayGoOn: () => boolean): Promise<void> {
  const { db, blobs, clock, config, diskLoad } = parts
  const days = scrubDays(config)
  if (days === 0) return
  const pace = createThrottle(config.scrubRate, clock.timers)
  let sound: BlobRow[] = []

  async function visit({ id, since }: UnverifiedCopy): Promise<void> {
    const isOverdue = since < clock.now() - days * DAY
    const waited = async () => {
      if (!isOverdue && !(await diskLoad.quiet(mayGoOn))) throw new WalkLeft()
    }
    const throttle = async (bytes: number) => {
      if (!mayGoOn()) throw new WalkLeft()
      await waited()
      await pace(bytes)
    }
    await waited()
    const content = await findContent(db, id)
    if (content === undefined) return
    const seen = await confirmed(parts, content, (row) => readDamage(blobs, row, { throttle }))
    if (isDamagedBlob(seen)) await markFound(parts, seen)
    else if (seen !== null) sound.push(seen.content)
  }

  async function record(isOver: boolean): Promise<void> {
    if (!isOver) return
    await new DamageMarker(parts, 'few', 0).sound(sound)
    sound = []
  }

  while (mayGoOn()) {
    const contents = await oldestUnverified(db, clock.now() - days * DUE_AFTER * DAY, BATCH)
    if (contents.length === 0 || !(await walk({ contents, visit, record }))) return
  }
}

/** Further contents are added at their next download. */
const MOST_WAITING = 100

/** Reads contents that a download found wrong again, one at a time, at HOLDFAST_SCRUB_RATE; marks damaged ones. */
export function createSuspectQueue(core: Core): { add(content: BlobId): void } {
  const { db, blobs, clock, shutdown, config, failed } = core
  const stop = new AbortController()
  const throttle = createThrottle(config.scrubRate, clock.timers, stop.signal)
  const report = failed('a content that looked damaged could not be read again')
  const waiting = new Set<BlobId>()
  let working: Promise<void> | null = null

  async function look(id: BlobId): Promise<void> {
    const content = await findContent(db, id)
    if (content === undefined || content.damage !== null) return
    const seen = await confirmed(core, content, (row) => readDamage(blobs, row, { throttle }))
    if (isDamagedBlob(seen)) await markFound(core, seen)
  }

  async function work(): Promise<void> {
    for (const id of waiting) {
      if (stop.signal.aborted) break
      await look(id).catch((error: unknown) => {
        if (!stop.signal.aborted) report(error)
      })
      waiting.delete(id)
    }
    working = null
  }

  shutdown.add('reading contents that look damaged', async () => {
    stop.abort(new Error('the server stops'))
    await working
  })
  return {
    add(content) {
      if (waiting.size >= MOST_WAITING) return
      waiting.add(content)
      working ??= work()
    },
  }
}

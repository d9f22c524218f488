import type { BlobStore } from '../blobs/blob-store.ts'
import type { Config } from '../config.ts'
import type { Core } from '../core/core.ts'
import { countDamaged, oldestUnverified, type UnverifiedCopy } from '../core/damage.rows.ts'
import type { Database } from '../database/database.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import type { BlobId } from '../domain/ids.ts'
import type { Log } from '../log.ts'
import { contentTotals, findContent } from './contents.rows.ts'
import { DamageMarker, mostMarked } from './damage.ts'
import { createThrottle, type DiskLoad } from './pace.ts'
import { confirmed, type DamagedBlob, type InspectedBlob, readDamage } from './reading.ts'

/** Reads stored bytes again, the longest unread first, to find damage before a download does. */

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
  const throttle = createThrottle(config.scrubRate, clock.timers)
  const look = async (copy: UnverifiedCopy): Promise<InspectedBlob | null> => {
    const isOverdue = copy.since < clock.now() - days * DAY
    const waited = async () => {
      if (!isOverdue && !(await diskLoad.quiet(mayGoOn))) throw new Left()
    }
    const throttled = async (bytes: number) => {
      if (!mayGoOn()) throw new Left()
      await waited()
      await throttle(bytes)
    }
    await waited()
    const content = await findContent(db, copy.id)
    if (content === undefined) return null
    return confirmed(parts, content, (row) => readDamage(blobs, row, throttled))
  }
  while (mayGoOn()) {
    const due = await oldestUnverified(db, clock.now() - days * DUE_AFTER * DAY, BATCH)
    if (due.length === 0) return
    const isLeft = await scrubBatch(parts, due, look)
    if (isLeft) return
  }
}

/** Read left unfinished: shutdown, lost lease, or busy disk. */
class Left extends Error {}

/** So much damage at once is more often a misconfiguration. */
export class TooMuchDamage extends Error {
  constructor() {
    super(
      'more than one in a hundred contents are damaged; no more are marked. Is the right store mounted? "holdfast check" names them, and with --mark-many marks them',
    )
  }
}

async function scrubBatch(
  parts: ScrubParts,
  due: readonly UnverifiedCopy[],
  look: (copy: UnverifiedCopy) => Promise<InspectedBlob | null>,
): Promise<boolean> {
  const sound: InspectedBlob['content'][] = []
  try {
    for (const copy of due) {
      const seen = await look(copy)
      if (seen === null) continue
      if (seen.damage === null) sound.push(seen.content)
      else await markFound(parts, { ...seen, damage: seen.damage })
    }
    return false
  } catch (error) {
    if (error instanceof Left) return true
    throw error
  } finally {
    await new DamageMarker(parts, 'few', 0).sound(sound)
  }
}

/** Throws TooMuchDamage, WrongStore, and what the store throws. */
export async function markFound(
  parts: Pick<ScrubParts, 'db' | 'blobs' | 'clock' | 'log'>,
  { content, damage }: DamagedBlob,
): Promise<void> {
  const { db, log } = parts
  const damaged = await countDamaged(db)
  // Counting all contents is slow: only where their number decides.
  const contents = damaged < mostMarked(0) ? 0 : (await contentTotals(db)).contents
  if (damaged >= mostMarked(contents)) throw new TooMuchDamage()
  const marking = new DamageMarker(parts, 'few', contents)
  await marking.found(content, damage)
  const { marked } = await marking.finish()
  if (marked === 0) return
  const { key, files } = content
  log.error({ key, damage, files }, 'stored bytes are damaged; "holdfast check" names their files')
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
    const seen = await confirmed(core, content, (row) => readDamage(blobs, row, throttle))
    if (seen !== null && seen.damage !== null) await markFound(core, { ...seen, damage: seen.damage })
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

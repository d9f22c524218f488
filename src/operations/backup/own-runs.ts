/**
 * What the server's own backups and rehearsals of a restore came to, in the database: whichever node runs the next one, and
 * whoever asks, knows it. The commands of people leave no trace here.
 */
import * as z from 'zod/mini'
import type { OwnBackups } from '../../config/setting-groups.ts'
import { metaOf, setMeta } from '../../core/meta.rows.ts'
import type { Queryable, Trx } from '../../database/database.ts'
import { DAY, HOUR } from '../../domain/clock.ts'
import { placeName } from '../store-places.ts'
import { type Seen, seenOf } from './seen.ts'

export const OWN_RUNS = ['backup', 'drill'] as const
export type OwnRun = (typeof OWN_RUNS)[number]

/** The names of the jobs. */
export const OWN_JOBS = { backup: 'back up', drill: 'rehearse a restore' } as const satisfies Record<
  OwnRun,
  string
>

/** What a run says at its end, to the server. */
export const outcome = z.object({
  /** The moment of the point in time that was added, or restored. */
  takenAt: z.int(),
  /** Files of the point; of a drill those that were read back. */
  files: z.int(),
  bytes: z.int(),
  /** Contents that the point lacks, and files that did not come back as they were uploaded. */
  wrong: z.int(),
})
export type Outcome = z.infer<typeof outcome>

const runs = z.object({
  /** Where the backup is. The rest is about no other place. */
  place: z.string(),
  /** When a server first had this place. */
  since: z.int(),
  /** The last that ended, and when. */
  last: z.nullable(z.extend(outcome, { endedAt: z.int() })),
  /** Why it could not be done since. */
  failure: z.nullable(z.object({ at: z.int(), reason: z.string() })),
  /** When administrators were last told by mail that something is wrong. */
  toldAt: z.nullable(z.int()),
})
export type Runs = z.infer<typeof runs>

const keyOf = (run: OwnRun) => `own_${run}`

/** Null where the server has not seen this place yet. */
export async function runsOf(db: Queryable, run: OwnRun, place: string): Promise<Runs | null> {
  const text = await metaOf(db, keyOf(run))
  if (text === null) return null
  const kept = runs.safeParse(JSON.parse(text))
  return kept.success && kept.data.place === place ? kept.data : null
}

export async function setRuns(trx: Trx, run: OwnRun, kept: Runs): Promise<void> {
  await setMeta(trx, keyOf(run), JSON.stringify(kept))
}

export function noRuns(place: string, now: number): Runs {
  return { place, since: now, last: null, failure: null, toldAt: null }
}

/** After a failure, and after a drill that said no. */
const TRIED_AGAIN_AFTER = { backup: HOUR, drill: DAY }

/** When the next one begins; null for no drill. Times ahead were written by a wrong clock, and count for nothing. */
export function dueAt(run: OwnRun, { last, failure }: Runs, own: OwnBackups, now: number): number | null {
  if (run === 'drill' && own.drillDays === 0) return null
  const past = (time: number | undefined) =>
    time === undefined || time > now ? Number.NEGATIVE_INFINITY : time
  const again = TRIED_AGAIN_AFTER[run]
  if (failure !== null) return past(failure.at) + again
  if (run === 'backup') return past(last?.takenAt) + own.hours * HOUR
  return past(last?.endedAt) + (last !== null && last.wrong > 0 ? again : own.drillDays * DAY)
}

/** The server's own backups, for administrators. */
export interface OwnState {
  readonly place: string
  readonly backup: Runs
  /** Null where none are rehearsed. */
  readonly drill: Runs | null
  /** Null before the first backup. */
  readonly seen: Seen | null
}

/** Null where the server makes no backups by itself. */
export async function ownState(db: Queryable, own: OwnBackups | null, now: number): Promise<OwnState | null> {
  if (own === null) return null
  const place = placeName(own.place)
  const [backup, drill] = await Promise.all(OWN_RUNS.map((run) => runsOf(db, run, place)))
  const none = noRuns(place, now)
  const seen = await seenOf(db, own.place)
  return { place, backup: backup ?? none, drill: own.drillDays === 0 ? null : (drill ?? none), seen }
}

/** Outcomes of scheduled backups and drills, in the database for all nodes. Runs by hand are not recorded. */
import * as z from 'zod/mini'
import type { OwnBackups } from '../../config/setting-groups.ts'
import { metaOf, setMeta } from '../../core/meta.rows.ts'
import type { Queryable, Trx } from '../../database/database.ts'
import { DAY, HOUR } from '../../domain/clock.ts'
import { placeName } from '../store-places.ts'
import { type Seen, seenOf } from './seen.ts'

export const OWN_RUNS = ['backup', 'drill'] as const
export type OwnRun = (typeof OWN_RUNS)[number]

export const OWN_JOBS = { backup: 'back up', drill: 'rehearse a restore' } as const satisfies Record<
  OwnRun,
  string
>

export const outcome = z.object({
  takenAt: z.int(),
  /** Files of the point, or those that a drill read back. */
  files: z.int(),
  bytes: z.int(),
  /** Contents that the point lacks, or files that a drill found different. */
  wrong: z.int(),
})
export type Outcome = z.infer<typeof outcome>

const runs = z.object({
  /** Records of another place do not count. */
  place: z.string(),
  since: z.int(),
  last: z.nullable(z.extend(outcome, { endedAt: z.int() })),
  failure: z.nullable(z.object({ at: z.int(), reason: z.string() })),
  toldAt: z.nullable(z.int()),
})
export type Runs = z.infer<typeof runs>

const keyOf = (run: OwnRun) => `own_${run}`

/** Null before the server has seen this place. */
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

const TRIED_AGAIN_AFTER = { backup: HOUR, drill: DAY }

/** Null: no drill. Times in the future come from a wrong clock, and are ignored. */
export function dueAt(run: OwnRun, { last, failure }: Runs, own: OwnBackups, now: number): number | null {
  if (run === 'drill' && own.drillDays === 0) return null
  const past = (time: number | undefined) =>
    time === undefined || time > now ? Number.NEGATIVE_INFINITY : time
  const again = TRIED_AGAIN_AFTER[run]
  if (failure !== null) return past(failure.at) + again
  if (run === 'backup') return past(last?.takenAt) + own.hours * HOUR
  return past(last?.endedAt) + (last !== null && last.wrong > 0 ? again : own.drillDays * DAY)
}

export interface OwnState {
  readonly place: string
  readonly backup: Runs
  readonly drill: Runs | null
  readonly seen: Seen | null
}

export async function ownState(db: Queryable, own: OwnBackups | null, now: number): Promise<OwnState | null> {
  if (own === null) return null
  const place = placeName(own.place)
  const [backup, drill] = await Promise.all(OWN_RUNS.map((run) => runsOf(db, run, place)))
  const none = noRuns(place, now)
  const seen = await seenOf(db, own.place)
  return { place, backup: backup ?? none, drill: own.drillDays === 0 ? null : (drill ?? none), seen }
}

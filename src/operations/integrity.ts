import type { Config } from '../config.ts'
import type { Seen } from '../contents/backup-place.ts'
import {
  countRepaired,
  type DamagedFile,
  type DamagedFilesQuery,
  listDamagedFiles,
} from '../contents/damages.rows.ts'
import { OWN_JOBS, type OwnRun, ownState, type Runs } from '../contents/own-backups.ts'
import { DUE_AFTER, SCRUB_JOB, scrubDays } from '../contents/scrub.ts'
import type { BackgroundJob } from '../contract/operations.ts'
import { countDamaged, countUnverified, oldestUnverified } from '../core/damage.rows.ts'
import type { Database } from '../database/database.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import type { BackgroundJobs } from './background-jobs.ts'

export interface ScrubState {
  /** All bytes are read again within `days`, at most `rate` bytes a second. */
  readonly days: number
  readonly rate: number
  /** When the longest unread bytes were verified or stored; null without contents. */
  readonly oldest: number | null
  /** `isAll`: false where more is due than was counted. */
  readonly due: { readonly contents: number; readonly bytes: number; readonly isAll: boolean }
  /** Null before its first run, and where another process runs it. */
  readonly job: BackgroundJob | null
}

export interface IntegrityState {
  readonly scrub: ScrubState | null
  readonly damaged: number
  readonly repaired: number
  readonly backup: OwnRunState | null
  readonly drill: OwnRunState | null
  readonly seen: Seen | null
}

export interface OwnRunState extends Runs {
  readonly job: BackgroundJob | null
}

export interface Integrity {
  state(): Promise<IntegrityState>
  files(query: DamagedFilesQuery): Promise<{ readonly files: readonly DamagedFile[]; readonly total: number }>
}

/** After a long time off everything is due. */
const MOST_COUNTED = 10_000

interface IntegrityParts {
  readonly db: Database
  readonly clock: Pick<Clock, 'now'>
  readonly config: Pick<Config, 'scrubDays' | 'scrubRate' | 's3' | 'backup'>
  readonly jobs: Pick<BackgroundJobs, 'list'>
}

export function createIntegrity(parts: IntegrityParts): Integrity {
  const { db } = parts
  return {
    async state() {
      const [scrub, damaged, repaired, own, jobs] = await Promise.all([
        scrubState(parts),
        countDamaged(db),
        countRepaired(db),
        ownState(db, parts.config.backup.own, parts.clock.now()),
        parts.jobs.list(),
      ])
      const stateOf = (run: OwnRun): OwnRunState | null => {
        const runs = own?.[run] ?? null
        return runs && { ...runs, job: jobs.find(({ name }) => name === OWN_JOBS[run]) ?? null }
      }
      const seen = own?.seen ?? null
      return { scrub, damaged, repaired, backup: stateOf('backup'), drill: stateOf('drill'), seen }
    },
    files: (query) => listDamagedFiles(db, query),
  }
}

export async function scrubState(
  parts: Omit<IntegrityParts, 'config'> & { readonly config: Pick<Config, 'scrubDays' | 'scrubRate' | 's3'> },
): Promise<ScrubState | null> {
  const { db, clock, config, jobs } = parts
  const days = scrubDays(config)
  if (days === 0) return null
  const now = clock.now()
  const [[oldest], due, all] = await Promise.all([
    oldestUnverified(db, now, 1),
    countUnverified(db, now - days * DUE_AFTER * DAY, MOST_COUNTED),
    jobs.list(),
  ])
  return {
    days,
    rate: config.scrubRate,
    oldest: oldest?.since ?? null,
    due: { ...due, isAll: due.contents < MOST_COUNTED },
    job: all.find(({ name }) => name === SCRUB_JOB) ?? null,
  }
}

import type { Config } from '../config.ts'
import { countRepaired } from '../contents/damages.rows.ts'
import type { MarkState } from '../contents/mark-copies.ts'
import { attachedMirror, mirrorLag } from '../contents/mirror-place.ts'
import { presentRound } from '../contents/mirror-reading.ts'
import { ownState } from '../contents/own-backups.ts'
import { scrubDays } from '../contents/scrub.ts'
import type { Core } from '../core/core.ts'
import { countDamaged, oldestUnverified } from '../core/damage.rows.ts'
import { type AccountTotals, accountTotals, thumbnailsWaiting } from '../core/figures.rows.ts'
import type { Database } from '../database/database.ts'
import { HOUR, SECOND } from '../domain/clock.ts'

/** Equal on every node. */
export interface InstallationFigures extends AccountTotals {
  readonly thumbnailsWaiting: number
  readonly damagedContents: number
  readonly repairedContents: number
  /** Milliseconds since the longest unread bytes were verified or stored; null where the scrub is off. */
  readonly oldestUnverified: number | null
  /** Milliseconds that the oldest content has waited for its copy; null without a mirror. */
  readonly mirrorLag: number | null
  readonly mirrorMark: MarkState | null
  /** `age`: milliseconds since which all copies were read or made. Null where copies are not read. */
  readonly mirrorRead: { readonly age: number; readonly wrong: number } | null
  readonly backups: BackupFigures | null
  readonly jobsSetAside: readonly string[]
}

export interface BackupFigures {
  /** Milliseconds since the newest backup's snapshot, or else since the server has the place. */
  readonly age: number
  /** Milliseconds. */
  readonly every: number
  readonly isDrillGood: boolean | null
  readonly catalog: MarkState | null
}

const FRESH_FOR = 10 * SECOND
const ANSWERS_WITHIN = 5 * SECOND

export function createFigures({
  db,
  claims,
  pools,
  clock,
  config,
}: Pick<Core, 'db' | 'claims' | 'pools' | 'clock'> & {
  readonly config: Pick<Config, 'scrubDays' | 's3' | 'mirror' | 'backup'>
}) {
  let last: Question | null = null

  async function ask(): Promise<InstallationFigures> {
    const [
      totals,
      waiting,
      damagedContents,
      repairedContents,
      jobsSetAside,
      oldest,
      behind,
      mirrorMark,
      mirrorRead,
      backups,
    ] = await Promise.all([
      accountTotals(db),
      thumbnailsWaiting(db),
      countDamaged(db),
      countRepaired(db),
      claims.setAside(),
      scrubDays(config) === 0 ? null : longestUnverified(),
      config.mirror === null ? null : mirrorLag(db, clock.now()),
      config.mirror === null ? null : attachedMirror(db),
      mirrorFigures(db, config, clock.now()),
      backupFigures(db, config, clock.now()),
    ])
    return {
      ...totals,
      thumbnailsWaiting: waiting,
      damagedContents,
      repairedContents,
      jobsSetAside,
      oldestUnverified: oldest,
      mirrorLag: behind,
      mirrorMark,
      mirrorRead,
      backups,
    }
  }

  async function longestUnverified(): Promise<number> {
    const now = clock.now()
    const [oldest] = await oldestUnverified(db, now, 1)
    return oldest === undefined ? 0 : now - oldest.since
  }

  function asked(): Question {
    const now = clock.monotonic()
    if (last !== null && (last.isOpen || now - last.at < FRESH_FOR)) return last
    // An error counts as no answer; other users of the database report it.
    const question: Question = { at: now, isOpen: true, figures: ask().catch(() => null) }
    question.figures.then((figures) => {
      question.isOpen = false
      if (figures === null && last === question) last = null
    })
    last = question
    return question
  }

  return {
    /** Empty for SQLite. */
    pools,

    /**
     * Queried at most once in ten seconds and never concurrently, so that frequent calls cannot overload the
     * database. Null when it does not answer within five seconds.
     */
    async installation(): Promise<InstallationFigures | null> {
      const silence = Promise.withResolvers<null>()
      const cancel = clock.timers.after(ANSWERS_WITHIN, () => silence.resolve(null))
      try {
        return await Promise.race([asked().figures, silence.promise])
      } finally {
        cancel()
      }
    },
  }
}

interface Question {
  readonly at: number
  isOpen: boolean
  readonly figures: Promise<InstallationFigures | null>
}

async function mirrorFigures(
  db: Database,
  { mirror }: Pick<Config, 'mirror'>,
  now: number,
): Promise<InstallationFigures['mirrorRead']> {
  const round = mirror === null || mirror.scrubDays === 0 ? null : await presentRound(db)
  return round && { age: Math.max(0, now - round.since), wrong: round.wrong }
}

async function backupFigures(
  db: Database,
  { backup: { own } }: Pick<Config, 'backup'>,
  now: number,
): Promise<BackupFigures | null> {
  const state = await ownState(db, own, now)
  if (state === null || own === null) return null
  const { backup, drill } = state
  const isKnown = drill !== null && (drill.last !== null || drill.failure !== null)
  return {
    age: Math.max(0, now - (backup.last?.takenAt ?? backup.since)),
    every: own.hours * HOUR,
    catalog: state.seen,
    isDrillGood: isKnown ? drill.failure === null && drill.last?.wrong === 0 : null,
  }
}

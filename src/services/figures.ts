import { type AccountTotals, accountTotals, thumbnailsWaiting } from '../database/figures.ts'
import type { Db } from '../database/schema.ts'
import { type Clock, SECOND } from '../domain/clock.ts'
import type { Claims } from './job-claims.ts'

/** What the whole installation holds, the same at every node. */
export interface InstallationFigures extends AccountTotals {
  readonly thumbnailsWaiting: number
  readonly jobsSetAside: readonly string[]
}

/** The connections of one pool. */
export interface PoolFigures {
  readonly busy: number
  readonly idle: number
  /** Queries and transactions that wait for a connection. */
  readonly waiting: number
  readonly most: number
}

/** Numbers for whoever watches over the service. */
export interface Figures {
  /**
   * Asked of the database once in ten seconds at most, and not while an earlier question is open: nobody can wear it out
   * by asking. Null when it does not answer within five seconds.
   */
  installation(): Promise<InstallationFigures | null>
  /** This node's connections to the database, by the name of their pool; of SQLite there are none. */
  pools(): Readonly<Record<string, PoolFigures>>
}

const FRESH_FOR = 10 * SECOND
const ANSWERS_WITHIN = 5 * SECOND

export function createFigures(parts: {
  readonly db: Db
  readonly claims: Claims
  readonly pools: Figures['pools']
  readonly clock: Clock
}): Figures {
  const { db, claims, pools, clock } = parts
  let last: Question | null = null

  async function ask(): Promise<InstallationFigures> {
    const [totals, waiting, jobsSetAside] = await Promise.all([
      accountTotals(db),
      thumbnailsWaiting(db),
      claims.setAside(),
    ])
    return { ...totals, thumbnailsWaiting: waiting, jobsSetAside }
  }

  function asked(): Question {
    const now = clock.monotonic()
    if (last !== null && (last.isOpen || now - last.at < FRESH_FOR)) return last
    // What goes wrong is told by there being no answer, and by whoever else needs the database.
    const question: Question = { at: now, isOpen: true, figures: ask().catch(() => null) }
    question.figures.then((figures) => {
      question.isOpen = false
      if (figures === null && last === question) last = null
    })
    last = question
    return question
  }

  return {
    pools,
    async installation() {
      const silence = Promise.withResolvers<null>()
      const timer = setTimeout(() => silence.resolve(null), ANSWERS_WITHIN)
      try {
        return await Promise.race([asked().figures, silence.promise])
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

interface Question {
  readonly at: number
  isOpen: boolean
  readonly figures: Promise<InstallationFigures | null>
}

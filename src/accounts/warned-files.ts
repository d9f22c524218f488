import { findAccount } from '../core/accounts.rows.ts'
import { hashToken } from '../core/hmac.ts'
import type { Outages } from '../core/outages.ts'
import type { Database } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, yieldToEventLoop } from '../domain/clock.ts'
import type { Inactivity } from '../files/expiry.ts'
import { addFileUse } from '../files/use-counters.ts'
import {
  countToKeep,
  dropFileWarnings,
  type FileWarningRow,
  findFileWarning,
  longestToKeep,
  nextKept,
  setKept,
} from './expiry-warnings.rows.ts'
import { invalidLink } from './one-time-links.ts'

export interface FilesOfWarning {
  readonly username: string
  /** Unused since the warning; 0 when they are kept already. */
  readonly files: number
  /** Lifetime of a kept file; null for good. */
  readonly days: number | null
}

/** The warning's link alone authorizes. */
export interface WarnedFiles {
  /** Changes nothing. Throws Refusal INVALID_LINK. */
  look(token: string): Promise<FilesOfWarning>
  /**
   * Counts as a use of each file, which also restores expired files that are not purged yet. Beyond
   * `FILES_OF_REQUEST`, `keepRest` does the rest. Throws Refusal INVALID_LINK.
   */
  keep(token: string): Promise<void>
  keepRest(mayGoOn: () => boolean): Promise<void>
  isAnyLeft(): Promise<boolean>
  dropOld(): Promise<void>
}

export const DAYS_AHEAD = 7
/** A day longer, until expired files are purged. */
const LINK_DAYS = DAYS_AHEAD + 1
const STEP = 250
const FILES_OF_REQUEST = 8 * STEP

export function createWarnedFiles(parts: {
  db: Database
  clock: Clock
  outages: Pick<Outages, 'lifetime'>
  inactivity: Pick<Inactivity, 'accounts'>
}): WarnedFiles {
  const { db, clock, outages, inactivity } = parts
  const links = outages.lifetime(LINK_DAYS)

  async function find(token: string): Promise<FileWarningRow> {
    const warning = await findFileWarning(db, hashToken(token))
    if (warning === undefined || links.endOf(warning.warned_at) <= clock.now()) throw invalidLink()
    return warning
  }

  return {
    async look(token) {
      const warning = await find(token)
      const owner = await findAccount(db, warning.account_id)
      if (owner === undefined || owner.removed_at !== null) throw invalidLink()
      return {
        username: owner.username,
        files: warning.kept_at === null ? await countToKeep(db, warning) : 0,
        days: inactivity.accounts(owner.inactive_days)?.days ?? null,
      }
    },

    async keep(token) {
      const warning = await find(token)
      const at = clock.now()
      // Recorded first, so that all files are kept even if this request is aborted.
      await setKept(db, warning.id, at)
      for (let kept = 0; kept < FILES_OF_REQUEST; kept += STEP) {
        if (!(await keepStep(db, warning, at))) break
        await yieldToEventLoop()
      }
    },

    isAnyLeft: async () => (await nextKept(db)) !== undefined,

    async keepRest(mayGoOn) {
      while (mayGoOn()) {
        const warning = await nextKept(db)
        if (warning === undefined) break
        await keepStep(db, warning, warning.kept_at ?? clock.now())
        await yieldToEventLoop()
      }
    },

    async dropOld() {
      await dropFileWarnings(db, links.cutoff())
    },
  }
}

async function keepStep(db: Database, warning: FileWarningRow, at: number): Promise<boolean> {
  const ids = (await longestToKeep(db, warning, STEP)).sort((a, b) => a - b)
  if (ids.length > 0) {
    await inTransaction(db, (trx) => addFileUse(trx, ids, { views: 0, downloads: 0, lastUsedAt: at }))
  }
  if (ids.length === STEP) return true
  await setKept(db, warning.id, null)
  return false
}

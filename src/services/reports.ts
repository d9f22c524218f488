import { findFile } from '../database/files.ts'
import {
  closeReport,
  dropClosedReports,
  findReport,
  forgetReporters,
  listReports,
  type ReportRow,
} from '../database/reports.ts'
import type { Db } from '../database/schema.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { FileId, ReportId, Sha256, Slug } from '../domain/ids.ts'
import type { ReportReason, ReportState } from '../domain/report.ts'
import { unhurried } from './turns.ts'

/** How long a report is kept after somebody has judged it. */
const CLOSED_KEPT_FOR = 180 * DAY

/** How many rows one statement changes. */
const STEP = 100

export interface Report {
  readonly id: ReportId
  /** The file as it was. */
  readonly file: {
    readonly id: FileId
    readonly slug: Slug
    readonly name: string
    readonly sha256: Sha256
  }
  readonly reason: ReportReason
  readonly text: string | null
  readonly createdAt: number
  readonly state: ReportState
  readonly closedAt: number | null
}

/** What people have against files, for those who judge it. */
export interface Reports {
  /** The newest first. */
  list(which: 'open' | 'all'): Promise<Report[]>
  /** With whether the file is still there. Throws Refusal NOT_FOUND. */
  get(id: ReportId): Promise<Report & { readonly fileIsHere: boolean }>
  /** Closes it, and leaves the file as it is. One that is closed stays as it is. Throws Refusal NOT_FOUND. */
  dismiss(id: ReportId): Promise<void>
  /** Forgets who has reported before today, and what was closed long ago. */
  forgetOld(mayGoOn?: () => boolean): Promise<void>
}

export function createReports(db: Db, clock: Clock): Reports {
  async function find(id: ReportId): Promise<ReportRow> {
    const row = await findReport(db, id)
    if (row === undefined) {
      throw new Refusal('NOT_FOUND', `there is no report ${id}; "report list --all" shows them all`)
    }
    return row
  }

  return {
    async list(which) {
      return (await listReports(db, which)).map(reportOf)
    },

    async get(id) {
      const report = reportOf(await find(id))
      const file = await findFile(db, { kind: 'id', id: report.file.id })
      return { ...report, fileIsHere: file !== undefined }
    },

    async dismiss(id) {
      await find(id)
      await closeReport(db, id, 'dismissed', clock.now())
    },

    async forgetOld(mayGoOn = () => true) {
      const now = clock.now()
      const steps = [
        () => forgetReporters(db, reportingDay(now), STEP),
        () => dropClosedReports(db, now - CLOSED_KEPT_FOR, STEP),
      ]
      for (const step of steps) while (mayGoOn() && (await unhurried(clock, step)) === STEP);
    },
  }
}

/** When the day began, in UTC, in which the same address is known again. */
export function reportingDay(now: number): number {
  return now - (now % DAY)
}

function reportOf({ id, file_id, slug, name, sha256, ...row }: ReportRow): Report {
  return {
    id,
    file: { id: file_id, slug, name, sha256 },
    reason: row.reason,
    text: row.text,
    createdAt: row.created_at,
    state: row.state,
    closedAt: row.closed_at,
  }
}

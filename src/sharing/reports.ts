import { findAccount } from '../core/accounts.rows.ts'
import { recordAuditEntry } from '../core/audit-log.ts'
import type { Signing } from '../core/hmac.ts'
import type { RateLimits } from '../core/rate-limits/rate-limits.ts'
import type { Database } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Actor } from '../domain/audit.ts'
import { type Clock, DAY, HOUR, withPause } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import {
  type AccountId,
  type FileId,
  GUESTS,
  type ReportId,
  type Sha256,
  type Slug,
  type Uuid,
} from '../domain/ids.ts'
import type { ReportReason, ReportState } from '../domain/report.ts'
import { type FileDetailRow, findFile } from '../files/files.rows.ts'
import {
  closeReport,
  countReports,
  dropClosedReports,
  findReport,
  forgetReporters,
  keepReport,
  listReports,
  pageOfReports,
  type ReportRow,
  type ReportSelection,
} from './reports.rows.ts'

const CLOSED_KEPT_FOR = 180 * DAY

const STEP = 100

export interface ReportedFile {
  readonly id: ReportId
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

export interface JudgedReport extends ReportedFile {
  readonly present: PresentFile | null
}

export interface PresentFile {
  readonly size: number
  readonly type: string
  readonly uuid: Uuid
  /** Null for a guest. */
  readonly account: { readonly id: AccountId; readonly username: string } | null
}

export interface Reports {
  list(which: 'open' | 'all'): Promise<ReportedFile[]>
  /** Throws Refusal NOT_FOUND. */
  get(id: ReportId): Promise<ReportedFile & { readonly fileIsHere: boolean }>
  page(
    which: ReportSelection,
    page: number,
    perPage: number,
  ): Promise<{ readonly reports: readonly JudgedReport[]; readonly total: number }>
  /** Throws Refusal NOT_FOUND. */
  judged(id: ReportId): Promise<JudgedReport>
  /** Leaves the file and a closed report unchanged. Throws Refusal NOT_FOUND. */
  dismiss(actor: Actor, id: ReportId): Promise<void>
  forgetOld(mayGoOn?: () => boolean): Promise<void>
}

export function createReports(db: Database, clock: Clock): Reports {
  async function find(id: ReportId): Promise<ReportRow> {
    const row = await findReport(db, id)
    if (row === undefined) throw reportNotFound(id)
    return row
  }

  async function present(id: FileId): Promise<PresentFile | null> {
    const file = await findFile(db, { kind: 'id', id })
    if (file === undefined) return null
    const { size, type, uuid, account_id } = file
    if (account_id === GUESTS) return { size, type, uuid, account: null }
    const owner = await findAccount(db, account_id)
    const account = owner === undefined ? null : { id: owner.id, username: owner.username }
    return { size, type, uuid, account }
  }

  async function judge(row: ReportRow): Promise<JudgedReport> {
    return { ...reportOf(row), present: await present(row.file_id) }
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

    async page(which, page, perPage) {
      const reports: JudgedReport[] = []
      for (const row of await pageOfReports(db, which, (page - 1) * perPage, perPage)) {
        reports.push(await judge(row))
      }
      return { reports, total: await countReports(db, which) }
    },

    judged: async (id) => judge(await find(id)),

    async dismiss(actor, id) {
      const { slug, name, sha256 } = await find(id)
      await inTransaction(db, async (trx) => {
        if (!(await closeReport(trx, id, 'dismissed', clock.now()))) return
        const details = { slug, name, sha256 }
        await recordAuditEntry(trx, clock, actor, { act: 'report.dismissed', object: String(id), details })
      })
    },

    async forgetOld(mayGoOn = () => true) {
      const now = clock.now()
      const steps = [
        () => forgetReporters(db, reportingDay(now), STEP),
        () => dropClosedReports(db, now - CLOSED_KEPT_FOR, STEP),
      ]
      for (const step of steps) while (mayGoOn() && (await withPause(clock.timers, step)) === STEP);
    },
  }
}

/** Beginning of the UTC day; a reporter's address is recognized within one day. */
export function reportingDay(now: number): number {
  return now - (now % DAY)
}

export function reportNotFound(id: ReportId): Refusal {
  return new Refusal('NOT_FOUND', `There is no report ${id}; the list of reports shows them all`)
}

function reportOf({ id, file_id, slug, name, sha256, ...row }: ReportRow): ReportedFile {
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

const REPORTS_AN_HOUR = 10

export interface Reporting {
  /** Replaces the address's report of that day. Throws Refusal RATE_LIMITED. */
  report(
    file: FileDetailRow,
    complaint: { readonly reason: ReportReason; readonly text: string | null },
    bucket: string,
  ): Promise<void>
}

export function createReporting(db: Database, rates: RateLimits, signing: Signing, clock: Clock): Reporting {
  return {
    async report(file, { reason, text }, bucket) {
      const subject = `report:${bucket}`
      const verdict = await rates.take(subject, 1, REPORTS_AN_HOUR, HOUR)
      if (!verdict.allowed) {
        throw new Refusal(
          'RATE_LIMITED',
          `You can send ${verdict.limit} reports an hour; try again later`,
          verdict.resetsIn,
        )
      }
      const now = clock.now()
      try {
        await keepReport(db, {
          file_id: file.id,
          slug: file.slug,
          name: file.name,
          sha256: file.sha256,
          reason,
          text,
          created_at: now,
          // Includes day and file, so that two reports from one address cannot be linked.
          reporter: signing.tag('reporter', `${reportingDay(now)}\n${file.id}\n${bucket}`),
        })
      } catch (error) {
        await rates.giveBack(subject, 1, verdict.openedAt)
        throw error
      }
    },
  }
}

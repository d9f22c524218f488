import type { Signing } from '../core/hmac.ts'
import type { RateLimits } from '../core/rate-limits/rate-limits.ts'
import type { Database } from '../database/database.ts'
import { type Clock, HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { ReportReason } from '../domain/report.ts'
import type { FileDetailRow } from '../files/files.rows.ts'
import { keepReport } from './reports.rows.ts'
import { reportingDay } from './reports.ts'

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

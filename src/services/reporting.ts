import type { FileDetailRow } from '../database/files.ts'
import { keepReport } from '../database/reports.ts'
import type { Db } from '../database/schema.ts'
import { type Clock, HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { ReportReason } from '../domain/report.ts'
import type { RateLimits } from './rate-limits.ts'
import { reportingDay } from './reports.ts'
import type { Signing } from './signing.ts'

const REPORTS_AN_HOUR = 10

/** Takes from anybody what they have against a file that they may see. */
export interface Reporting {
  /**
   * Keeps it for the administrators. What the same address says of the file again on the same day takes the place of
   * what it said before. Throws Refusal RATE_LIMITED.
   */
  report(
    file: FileDetailRow,
    complaint: { readonly reason: ReportReason; readonly text: string | null },
    bucket: string,
  ): Promise<void>
}

export function createReporting(db: Db, rates: RateLimits, signing: Signing, clock: Clock): Reporting {
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
          // The day and the file are part of it, so that two reports of one address do not show that they are.
          reporter: signing.tag('reporter', `${reportingDay(now)}\n${file.id}\n${bucket}`),
        })
      } catch (error) {
        await rates.giveBack(subject, 1, verdict.openedAt)
        throw error
      }
    },
  }
}

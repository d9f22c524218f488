import { z } from '@hono/zod-openapi'
import { timestamp } from '../../../domain/clock.ts'
import type { ReportId } from '../../../domain/ids.ts'
import { REPORT_REASONS, REPORT_STATES } from '../../../domain/report.ts'
import type { JudgedReport } from '../../../services/reports.ts'
import type { Site } from '../../call.ts'
import { adminRoute } from '../../route.ts'
import { done, rowId } from '../answers.ts'
import { dataOf, optionalTimestamp, timestampField } from '../fields.ts'
import { fileUrl, thumbnailPath } from '../file-answers.ts'
import { listOf, optionalTime, owner, pageOf, pageQuery, sizeField, toList } from './fields.ts'
import { takenDown } from './take-downs.ts'

const report = z
  .object({
    id: z.number().int(),
    reason: z.enum(REPORT_REASONS),
    text: z.string().nullable(),
    created_at: timestampField,
    state: z.enum(REPORT_STATES).openapi({ example: 'open' }),
    closed_at: optionalTimestamp,
    file: z.object({
      id: z.number().int(),
      slug: z.string(),
      url: z.string(),
      name: z.string(),
      sha256: z.string(),
      is_here: z.boolean().openapi({ description: 'What follows is null once it is gone' }),
      size: sizeField.nullable(),
      type: z.string().nullable(),
      thumbnail_url: z.string().nullable(),
      account: owner.nullable().openapi({ description: 'null also for a guest' }),
    }),
  })
  .openapi('Report')

function toReport(site: Site, judged: JudgedReport): z.infer<typeof report> {
  const { file, reason, text, state, present } = judged
  return {
    id: judged.id,
    reason,
    text,
    created_at: timestamp(judged.createdAt),
    state,
    closed_at: optionalTime(judged.closedAt),
    file: {
      id: file.id,
      slug: file.slug,
      url: fileUrl(site, file.slug),
      name: file.name,
      sha256: file.sha256,
      is_here: present !== null,
      size: present?.size ?? null,
      type: present?.type ?? null,
      thumbnail_url: present === null ? null : thumbnailPath(present.uuid),
      account: present?.account ?? null,
    },
  }
}

const params = z.object({ id: rowId })
const idOf = (given: Readonly<Record<string, string>>) =>
  (/^\d{1,15}$/.test(given.id ?? '') ? Number(given.id) : 0) as ReportId

export const listReports = adminRoute({
  method: 'get',
  path: '/api/v1/admin/reports',
  summary: 'List what people report about files, the newest first',
  query: z.object({ ...pageQuery, state: z.enum(['open', 'closed', 'all']).optional() }),
  answer: listOf(report),
  errors: [400],
  async handle({ call, query }) {
    const page = pageOf(query)
    const which = query.state ?? 'open'
    const { reports, total } = await call.site.services.reports.page(which, page.page, page.perPage)
    return toList(
      page,
      reports.map((each) => toReport(call.site, each)),
      total,
    )
  },
})

export const getReport = adminRoute({
  method: 'get',
  path: '/api/v1/admin/report/{id}',
  summary: 'Read a report',
  params,
  answer: dataOf(report),
  errors: [404],
  async handle({ call, params }) {
    const found = await call.site.services.reports.judged(idOf(params))
    return { success: true, data: toReport(call.site, found) }
  },
})

export const dismissReport = adminRoute({
  method: 'post',
  path: '/api/v1/admin/report/{id}/dismiss',
  summary: 'Close a report, and leave its file as it is',
  params,
  answer: done,
  errors: [404],
  async handle({ call, caller, params }) {
    await call.site.services.reports.dismiss(caller, idOf(params))
    return { success: true }
  },
})

export const takeReportedDown = adminRoute({
  method: 'post',
  path: '/api/v1/admin/report/{id}/take-down',
  summary: 'Take the content down that a report is about: every file that has it, and what comes of it again',
  params,
  answer: dataOf(takenDown),
  errors: [404],
  async handle({ call, caller, params }) {
    return { success: true, data: await call.site.services.takeDowns.reported(caller, idOf(params)) }
  },
})

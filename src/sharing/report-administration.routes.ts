import { z } from '@hono/zod-openapi'
import { type Report, reportAnswer, reportsAnswer, takenDownAnswer } from '../contract/administration.ts'
import { done } from '../contract/fields.ts'
import { optionalTime, timestamp } from '../domain/clock.ts'
import type { ReportId } from '../domain/ids.ts'
import { fileUrl, thumbnailPath } from '../files/file-answers.ts'
import { pictureAddresses } from '../files/picture-addresses.ts'
import type { Site } from '../server/call.ts'
import { adminEndpoint } from '../server/endpoint.ts'
import { rowId, rowNumber } from '../server/requests/fields.ts'
import { pageFields, pageQuery, toList } from '../server/requests/list-pages.ts'
import type { Thumbnails } from '../thumbnails/thumbnails.ts'
import type { JudgedReport } from './reports.ts'
import type { SharingPart } from './sharing.part.ts'

async function reportAnswers(
  site: Site,
  thumbnails: Pick<Thumbnails, 'without'>,
  reports: readonly JudgedReport[],
): Promise<(judged: JudgedReport) => Report> {
  const files = new Map(
    reports.flatMap(({ file: { id, name }, present }) =>
      present === null ? [] : [[id, { ...present, id, name }] as const],
    ),
  )
  const pictureOf = await pictureAddresses(thumbnails, [...files.values()])
  return (judged) => {
    const file = files.get(judged.file.id)
    return toReport(site, judged, file === undefined ? null : pictureOf(file))
  }
}

function toReport(site: Site, judged: JudgedReport, pictureUrl: string | null): Report {
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
      picture_url: pictureUrl,
      account: present?.account ?? null,
    },
  }
}

const params = z.object({ id: rowId })
const idOf = (text: string | undefined) => rowNumber(text) as ReportId

export const listReportsEndpoint = adminEndpoint({
  summary: 'List reports',
  description: 'Newest first.',
  query: z.object({ ...pageQuery, state: z.enum(['open', 'closed', 'all']).optional() }),
  answer: reportsAnswer,
  errors: [400],
  async handle({ call, query }, { sharing, thumbnails }: { sharing: SharingPart; thumbnails: Thumbnails }) {
    const page = pageFields(query)
    const which = query.state ?? 'open'
    const { reports, total } = await sharing.reports.page(which, page.page, page.perPage)
    return toList(page, reports.map(await reportAnswers(call.site, thumbnails, reports)), total)
  },
})

export const getReportEndpoint = adminEndpoint({
  summary: 'Get a report',
  params,
  answer: reportAnswer,
  errors: [404],
  async handle({ call, params }, { sharing, thumbnails }: { sharing: SharingPart; thumbnails: Thumbnails }) {
    const found = await sharing.reports.judged(idOf(params.id))
    const answerWith = await reportAnswers(call.site, thumbnails, [found])
    return { success: true, data: answerWith(found) }
  },
})

export const dismissReportEndpoint = adminEndpoint({
  summary: 'Dismiss a report',
  description: 'Its file stays as it is.',
  params,
  answer: done,
  errors: [404],
  async handle({ caller, params }, { sharing }: { sharing: SharingPart }) {
    await sharing.reports.dismiss(caller, idOf(params.id))
    return { success: true }
  },
})

export const takeReportedDownEndpoint = adminEndpoint({
  summary: 'Take down the content of a report',
  description: 'Every file that has it, and what comes of it again.',
  params,
  answer: takenDownAnswer,
  errors: [404],
  async handle({ caller, params }, { sharing }: { sharing: SharingPart }) {
    return { success: true, data: await sharing.takeDowns.reported(caller, idOf(params.id)) }
  },
})

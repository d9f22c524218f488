import { z } from '@hono/zod-openapi'
import type { Authentication } from '../accounts/authentication.ts'
import {
  type Report,
  refusedContentsAnswer,
  reportAnswer,
  reportsAnswer,
  takenDownAnswer,
} from '../contract/administration.ts'
import { done, doneWithMessage } from '../contract/fields.ts'
import { optionalTime, timestamp } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { isSha256, parseFileIdentifier, parseSlug, type ReportId, type Sha256 } from '../domain/ids.ts'
import { MAX_REPORT_TEXT, parseReportText, REPORT_REASONS } from '../domain/report.ts'
import { fileUrl, type Site } from '../server/call.ts'
import { adminEndpoint, openEndpoint } from '../server/endpoint.ts'
import {
  fileIdentifier,
  pageFields,
  pageQuery,
  parseRowId,
  rowId,
  toList,
} from '../server/requests/fields.ts'
import { pictureAddresses, type Thumbnails, thumbnailPath } from '../thumbnails/thumbnails.ts'
import { unlocked } from './access.ts'
import type { JudgedReport } from './reports.ts'
import type { SharingModule } from './sharing.module.ts'

export const reportFileEndpoint = openEndpoint({
  summary: 'Report a file',
  description: 'To the administrators; one that you may see.',
  tag: 'Public',
  body: z.object({
    // Only slugs: accepting ids would reveal which files exist.
    slug: z.string('must be the slug of the file'),
    reason: z.enum(REPORT_REASONS, `must be one of ${REPORT_REASONS.join(', ')}`),
    text: z
      .string('must be text')
      .nullish()
      .openapi({ maxLength: MAX_REPORT_TEXT, description: 'What the administrators should know besides' }),
  }),
  answer: doneWithMessage,
  errors: [400, 403, 404, 413, 429],
  async handle(
    { call, body },
    { authentication, sharing }: { authentication: Authentication; sharing: SharingModule },
  ) {
    const { bucket } = call
    const requester = authentication.requester(call)
    const file = unlocked(await sharing.access.file(requester, { kind: 'slug', slug: parseSlug(body.slug) }))
    await sharing.reporting.report(file, { reason: body.reason, text: parseReportText(body.text) }, bucket)
    return { success: true, message: 'Thank you; the administrators of this server will see your report' }
  },
})

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
const idOf = (text: string | undefined) => parseRowId<ReportId>(text)

export const listReportsEndpoint = adminEndpoint({
  summary: 'List reports',
  description: 'Newest first.',
  query: z.object({ ...pageQuery, state: z.enum(['open', 'closed', 'all']).optional() }),
  answer: reportsAnswer,
  errors: [400],
  async handle({ call, query }, { sharing, thumbnails }: { sharing: SharingModule; thumbnails: Thumbnails }) {
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
  async handle(
    { call, params },
    { sharing, thumbnails }: { sharing: SharingModule; thumbnails: Thumbnails },
  ) {
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
  async handle({ caller, params }, { sharing }: { sharing: SharingModule }) {
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
  async handle({ caller, params }, { sharing }: { sharing: SharingModule }) {
    return { success: true, data: await sharing.takeDowns.reported(caller, idOf(params.id)) }
  },
})

const hash = z.string().openapi({ description: '64 hexadecimal characters' })

export const takeDownEndpoint = adminEndpoint({
  summary: 'Take down a content',
  description: 'Every file that has it, at once and everywhere, and what comes of it again.',
  body: z
    .object({
      file: fileIdentifier.optional(),
      sha256: hash.optional().openapi({ description: 'In the place of a file, which need not be here' }),
    })
    .openapi({ example: { file: 'Kx3RmP7vTq2a' } }),
  answer: takenDownAnswer,
  errors: [400, 404, 413],
  async handle({ caller, body }, { sharing }: { sharing: SharingModule }) {
    const { file, sha256 } = body
    if (file !== undefined && sha256 === undefined) {
      return { success: true, data: await sharing.takeDowns.file(caller, parseFileIdentifier(file)) }
    }
    if (sha256 !== undefined && file === undefined) {
      return { success: true, data: await sharing.takeDowns.content(caller, parseSha256(sha256)) }
    }
    throw new Refusal('INVALID_REQUEST', 'Give either "file" or "sha256"')
  },
})

export const listRefusedEndpoint = adminEndpoint({
  summary: 'List refused contents',
  description: 'Those that were taken down, newest first.',
  query: z.object(pageQuery),
  answer: refusedContentsAnswer,
  errors: [400],
  async handle({ query }, { sharing }: { sharing: SharingModule }) {
    const page = pageFields(query)
    const { contents, total } = await sharing.takeDowns.refused(page.page, page.perPage)
    const data = contents.map(({ sha256, refused_at, files }) => ({
      sha256,
      refused_at: timestamp(refused_at),
      files,
    }))
    return toList(page, data, total)
  },
})

export const allowContentEndpoint = adminEndpoint({
  summary: 'Allow a refused content',
  description: 'It can be uploaded again. Files that were removed are not restored.',
  params: z.object({ sha256: hash }),
  answer: done,
  errors: [400, 404],
  async handle({ caller, params }, { sharing }: { sharing: SharingModule }) {
    await sharing.takeDowns.allow(caller, parseSha256(params.sha256 ?? ''))
    return { success: true }
  },
})

function parseSha256(text: string): Sha256 {
  const lower = text.toLowerCase()
  if (isSha256(lower)) return lower
  throw new Refusal('INVALID_REQUEST', '"sha256": must have 64 hexadecimal characters')
}

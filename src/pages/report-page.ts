import { z } from '@hono/zod-openapi'
import { Refusal } from '../domain/errors.ts'
import type { Slug } from '../domain/ids.ts'
import { parseReportText, REPORT_REASONS, reportReason } from '../domain/report.ts'
import type { FileDetail } from '../files/files.ts'
import type { Authentication } from '../server/authentication.ts'
import type { Call } from '../server/call.ts'
import { endpoint } from '../server/endpoint.ts'
import { statusOf } from '../server/errors.ts'
import { readForm } from '../server/requests/body.ts'
import { assertFromOwnPage } from '../server/requests/own-page.ts'
import { unlocked } from '../sharing/access.ts'
import type { SharingPart } from '../sharing/sharing.part.ts'
import { lockedFolderPage, passwordForm } from './folder-password.ts'
import type { PagesPart } from './pages.part.ts'
import { page } from './pages.routes.ts'
import type { ReportPageView, ReportProblem } from './views.ts'

export const getReportPage = endpoint({
  documentation: {
    summary: 'The form that reports a file to the administrators',
    tag: 'Site',
    params: z.object({ slug: z.string() }),
    answers: { 200: { description: 'A page' } },
    errors: [404],
  },
  async handle(
    call,
    {
      authentication,
      pages,
      sharing,
    }: { authentication: Authentication; pages: PagesPart; sharing: SharingPart },
  ) {
    const seen = await sharing.access.file(await authentication.asker(call), fileOf(call))
    if (seen.kind === 'locked')
      return passwordForm(
        call,
        { pages, sharing },
        lockedFolderPage(seen.folder),
        `/d/${fileOf(call).slug}`,
        null,
      )
    return form(call, pages, seen.item, { reason: null, text: '' }, null)
  },
})

export const postReport = endpoint({
  documentation: {
    summary: 'Report a file by the form of its page',
    tag: 'Site',
    params: z.object({ slug: z.string() }),
    body: {
      type: 'application/x-www-form-urlencoded',
      schema: z.object({ reason: z.enum(REPORT_REASONS), text: z.string().optional() }),
    },
    answers: { 200: { description: 'A page that says that the report is kept' } },
    errors: [400, 403, 404, 413, 429],
  },
  async handle(
    call,
    {
      authentication,
      pages,
      sharing,
    }: { authentication: Authentication; pages: PagesPart; sharing: SharingPart },
  ) {
    assertFromOwnPage(call)
    const file = unlocked(await sharing.access.file(await authentication.asker(call), fileOf(call)))
    const sent = await readForm(call)
    const filled = { reason: reportReason(sent.get('reason') ?? ''), text: sent.get('text') ?? '' }
    const { reason } = filled
    if (reason === null) return form(call, pages, file, filled, { kind: 'no reason' })
    try {
      await sharing.reporting.report(file, { reason, text: parseReportText(filled.text) }, call.bucket)
    } catch (error) {
      const problem = problemOf(error)
      if (problem === null) throw error
      return form(call, pages, file, filled, problem)
    }
    return page(call.site, pages.render.reportedPage(`/d/${file.slug}`, await pages.reader(call)))
  },
})

function fileOf(call: Call): { readonly kind: 'slug'; readonly slug: Slug } {
  return { kind: 'slug', slug: (call.params.slug ?? '') as Slug }
}

/** The problem that the form itself shows; null for errors with a page of their own. */
function problemOf(error: unknown): ReportProblem | null {
  if (!(error instanceof Refusal)) return null
  if (error.code === 'INVALID_REQUEST') return { kind: 'long text' }
  if (error.code === 'RATE_LIMITED') return { kind: 'too many', retryAfter: error.retryAfter ?? 0 }
  return null
}

/** The form with the entered values and the problem. */
async function form(
  call: Call,
  pages: PagesPart,
  file: FileDetail,
  filled: ReportPageView['filled'],
  problem: ReportProblem | null,
): Promise<Response> {
  const view: ReportPageView = {
    file: { name: file.name, path: `/d/${file.slug}` },
    filled,
    problem,
  }
  const html = pages.render.reportPage(view, await pages.reader(call))
  if (problem === null) return page(call.site, html)
  if (problem.kind !== 'too many') return page(call.site, html, statusOf('INVALID_REQUEST'))
  const response = page(call.site, html, statusOf('RATE_LIMITED'))
  response.headers.set('Retry-After', String(problem.retryAfter))
  return response
}

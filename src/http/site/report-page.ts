import { z } from '@hono/zod-openapi'
import { Refusal } from '../../domain/errors.ts'
import type { Slug } from '../../domain/ids.ts'
import { parseReportText, REPORT_REASONS, reportReason } from '../../domain/report.ts'
import { unlocked } from '../../services/access.ts'
import type { FileDetail } from '../../services/files.ts'
import { readForm, TEXT_BODY } from '../body.ts'
import { askerOf, type Call } from '../call.ts'
import { statusOf } from '../errors.ts'
import { assertFromOwnPage } from '../own-page.ts'
import type { Route } from '../route.ts'
import { passwordForm } from './folder-password.ts'
import { pageReader } from './page-reader.ts'
import { page } from './pages.ts'
import type { ReportPageView, ReportProblem } from './views.ts'

const PATH = '/d/{slug}/report'

export const getReportPage: Route = {
  method: 'get',
  path: PATH,
  auth: 'none',
  documentation: {
    summary: 'The form that reports a file to the administrators',
    tag: 'Site',
    params: z.object({ slug: z.string() }),
    answers: { 200: { description: 'A page' } },
    errors: [404],
  },
  async handle(call) {
    const seen = await call.site.services.access.file(await askerOf(call), fileOf(call))
    if (seen.kind === 'locked') return passwordForm(call, seen.folder, `/d/${fileOf(call).slug}`, null)
    return form(call, seen.item, { reason: null, text: '' }, null)
  },
}

export const postReport: Route = {
  method: 'post',
  path: PATH,
  auth: 'none',
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
  async handle(call) {
    assertFromOwnPage(call)
    const { access, reporting } = call.site.services
    const file = unlocked(await access.file(await askerOf(call), fileOf(call)))
    const sent = await readForm(call, TEXT_BODY)
    const filled = { reason: reportReason(sent.get('reason') ?? ''), text: sent.get('text') ?? '' }
    const { reason } = filled
    if (reason === null) return form(call, file, filled, { kind: 'no reason' })
    try {
      await reporting.report(file, { reason, text: parseReportText(filled.text) }, call.bucket)
    } catch (error) {
      const problem = problemOf(error)
      if (problem === null) throw error
      return form(call, file, filled, problem)
    }
    return page(call.site, call.site.pages.reportedPage(`/d/${file.slug}`, await pageReader(call)))
  },
}

function fileOf(call: Call): { readonly kind: 'slug'; readonly slug: Slug } {
  return { kind: 'slug', slug: (call.params.slug ?? '') as Slug }
}

/** What the form can tell of; anything else is a page of its own. */
function problemOf(error: unknown): ReportProblem | null {
  if (!(error instanceof Refusal)) return null
  if (error.code === 'INVALID_REQUEST') return { kind: 'long text' }
  if (error.code === 'RATE_LIMITED') return { kind: 'too many', retryAfter: error.retryAfter ?? 0 }
  return null
}

/** The form, with what was filled in and what is wrong with it. */
async function form(
  call: Call,
  file: FileDetail,
  filled: ReportPageView['filled'],
  problem: ReportProblem | null,
): Promise<Response> {
  const view: ReportPageView = {
    file: { name: file.name, path: `/d/${file.slug}` },
    filled,
    problem,
  }
  const html = call.site.pages.reportPage(view, await pageReader(call))
  if (problem === null) return page(call.site, html)
  if (problem.kind !== 'too many') return page(call.site, html, statusOf('INVALID_REQUEST'))
  const response = page(call.site, html, statusOf('RATE_LIMITED'))
  response.headers.set('Retry-After', String(problem.retryAfter))
  return response
}

import { z } from '@hono/zod-openapi'
import type { Authentication } from '../accounts/authentication.ts'
import { ERROR_STATUSES, Refusal } from '../domain/errors.ts'
import { parseSlug, type Slug } from '../domain/ids.ts'
import { parseReportText, REPORT_REASONS, reportReason } from '../domain/report.ts'
import { type FileDetailRow, fileNotFound } from '../files/files.ts'
import type { Call } from '../server/call.ts'
import { endpoint } from '../server/endpoint.ts'
import { readForm } from '../server/requests/body.ts'
import { assertFromOwnPage } from '../server/requests/browser.ts'
import { unlocked } from '../sharing/access.ts'
import { linkPath, linkVisit, openedLink } from '../sharing/links/link-access.ts'
import type { SharingModule } from '../sharing/sharing.module.ts'
import { lockedFolderPage, passwordForm } from './folder-password.ts'
import type { PagesModule } from './pages.module.ts'
import { page } from './pages.routes.ts'
import type { ReportPageView, ReportProblem } from './views.ts'

interface ReportNeeds {
  readonly authentication: Authentication
  readonly pages: PagesModule
  readonly sharing: SharingModule
}

interface ReportedFile {
  readonly file: FileDetailRow
  readonly path: string
}

const EMPTY: ReportPageView['filled'] = { reason: null, text: '' }

const linkParams = z.object({ link: z.string(), target: z.string() })

export const getReportPage = endpoint({
  documentation: {
    summary: 'Open the form that reports a file',
    tag: 'Site',
    params: z.object({ slug: z.string() }),
    answers: { 200: { description: 'A page' } },
    errors: [404],
  },
  async handle(call, { authentication, pages, sharing }: ReportNeeds) {
    const seen = await sharing.access.file(authentication.requester(call), fileOf(call))
    if (seen.kind === 'locked')
      return passwordForm(
        call,
        { pages, sharing },
        lockedFolderPage(seen.folder),
        `/d/${fileOf(call).slug}`,
        null,
      )
    return form(call, pages, reported(seen.item), EMPTY, null)
  },
})

export const getLinkReportPage = endpoint({
  documentation: {
    summary: 'Open the form that reports a file of a link',
    tag: 'Site',
    params: linkParams,
    answers: { 200: { description: 'A page' } },
    errors: [403, 404],
  },
  async handle(call, modules: ReportNeeds) {
    return form(call, modules.pages, await linkedFile(call, modules), EMPTY, null)
  },
})

const sending = {
  tag: 'Site' as const,
  body: {
    type: 'application/x-www-form-urlencoded' as const,
    schema: z.object({ reason: z.enum(REPORT_REASONS), text: z.string().optional() }),
  },
  answers: { 200: { description: 'A page that says that the report is kept' } },
  errors: [400, 403, 404, 413, 429] as const,
}

export const postReport = endpoint({
  documentation: {
    ...sending,
    summary: 'Report a file by a form',
    params: z.object({ slug: z.string() }),
  },
  async handle(call, modules: ReportNeeds) {
    assertFromOwnPage(call)
    const requester = await modules.authentication.requester(call)
    return keep(call, modules, reported(unlocked(await modules.sharing.access.file(requester, fileOf(call)))))
  },
})

export const postLinkReport = endpoint({
  documentation: {
    ...sending,
    summary: 'Report a file of a link by a form',
    params: linkParams,
  },
  async handle(call, modules: ReportNeeds) {
    assertFromOwnPage(call)
    return keep(call, modules, await linkedFile(call, modules))
  },
})

async function keep(
  call: Call,
  { pages, sharing }: ReportNeeds,
  { file, path }: ReportedFile,
): Promise<Response> {
  const sent = await readForm(call)
  const filled = { reason: reportReason(sent.get('reason') ?? ''), text: sent.get('text') ?? '' }
  const { reason } = filled
  if (reason === null) return form(call, pages, { file, path }, filled, { kind: 'no reason' })
  try {
    await sharing.reporting.report(file, { reason, text: parseReportText(filled.text) }, call.bucket)
  } catch (error) {
    const problem = problemOf(error)
    if (problem === null) throw error
    return form(call, pages, { file, path }, filled, problem)
  }
  return page(call.site, pages.render.reportedPage(path, await pages.reader(call)))
}

/** Throws Refusal LINK_NOT_FOUND, FILE_NOT_FOUND or PASSWORD_REQUIRED. */
async function linkedFile(call: Call, { authentication, sharing }: ReportNeeds): Promise<ReportedFile> {
  const name = call.params.target ?? ''
  const visited = await sharing.linkAccess.visit(await authentication.requester(call), linkVisit(call))
  const { requester, link } = openedLink(visited)
  const target = sharing.linkNames.read(link.id, name)
  if (target?.kind !== 'file') throw fileNotFound()
  const file = unlocked(await sharing.access.file(requester, { kind: 'id', id: target.id }))
  return { file, path: linkPath(link.slug, name) }
}

function reported(file: FileDetailRow): ReportedFile {
  return { file, path: `/d/${file.slug}` }
}

function fileOf(call: Call): { readonly kind: 'slug'; readonly slug: Slug } {
  return { kind: 'slug', slug: parseSlug(call.params.slug) }
}

function problemOf(error: unknown): ReportProblem | null {
  if (!(error instanceof Refusal)) return null
  if (error.code === 'INVALID_REQUEST') return { kind: 'long text' }
  if (error.code === 'RATE_LIMITED') return { kind: 'too many', retryAfter: error.retryAfter ?? 0 }
  return null
}

async function form(
  call: Call,
  pages: PagesModule,
  { file, path }: ReportedFile,
  filled: ReportPageView['filled'],
  problem: ReportProblem | null,
): Promise<Response> {
  const view: ReportPageView = {
    file: { name: file.name, path },
    filled,
    problem,
  }
  const html = pages.render.reportPage(view, await pages.reader(call))
  if (problem === null) return page(call.site, html)
  if (problem.kind !== 'too many') return page(call.site, html, ERROR_STATUSES.INVALID_REQUEST)
  const response = page(call.site, html, ERROR_STATUSES.RATE_LIMITED)
  response.headers.set('Retry-After', String(problem.retryAfter))
  return response
}

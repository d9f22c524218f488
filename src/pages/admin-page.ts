import { z } from '@hono/zod-openapi'
import type { AdminSection } from '../../web/admin/data.ts'
import { Refusal } from '../domain/errors.ts'
import type { Authentication } from '../server/authentication.ts'
import type { Call } from '../server/call.ts'
import { endpoint } from '../server/endpoint.ts'
import type { PagesPart } from './pages.part.ts'
import { page } from './pages.routes.ts'
import { seeOther } from './see-other.ts'

const subjects: Readonly<Record<AdminSection, string>> = {
  overview: 'how it stands, and how it went',
  accounts: 'the accounts',
  reports: 'what people report, and what was taken down',
  files: 'the newest and the largest files',
  integrity: 'how the stored bytes do, and which files are damaged',
  jobs: 'what runs by itself, and the servers',
  notice: 'what everybody is told on every page',
  settings: 'the settings in force',
  doctor: 'whether the set-up is sound',
  audit: 'what administrators have done',
}

function isSection(text: string): text is AdminSection {
  return Object.hasOwn(subjects, text)
}

/** The page contains no data: its script requests all of it. */
async function adminPage(
  call: Call,
  { authentication, pages }: { authentication: Authentication; pages: PagesPart },
): Promise<Response> {
  const section = call.params.section ?? 'overview'
  const session = await authentication.pageSession(call)
  const { pathname, search } = call.url
  if (session === null) return seeOther(`/sign-in?next=${encodeURIComponent(pathname + search)}`)
  if (!session.by.isAdmin) {
    throw new Refusal('ADMIN_NEEDED', 'Only administrators of this server can see this page')
  }
  if (!isSection(section)) throw new Refusal('NOT_FOUND', 'There is no such page')
  const view = { section, canInvite: call.site.config.signUp !== 'closed' }
  return page(call.site, pages.render.adminPage(view, await pages.reader(call)))
}

export const getAdminPage = endpoint({
  documentation: {
    summary: `Administration: ${subjects.overview}`,
    tag: 'Site',
    answers: {
      200: { description: 'A page' },
      303: { description: 'Nobody is signed in; on to where one can' },
    },
    errors: [403, 404],
  },
  handle: adminPage,
})

export const getAdminPageOf = endpoint({
  ...getAdminPage,
  documentation: {
    ...getAdminPage.documentation,
    summary: 'One page of administration',
    params: z.object({
      section: z.string().openapi({ description: Object.keys(subjects).join(', '), example: 'accounts' }),
    }),
  },
})

import { z } from '@hono/zod-openapi'
import type { Section } from '../../../web/admin/data.ts'
import { Refusal } from '../../domain/errors.ts'
import type { Call } from '../call.ts'
import { aliasOf, type Route } from '../route.ts'
import { pageSession } from '../session.ts'
import { pageReader } from './page-reader.ts'
import { page } from './pages.ts'
import { seeOther } from './see-other.ts'

/** What each page is about. */
const subjects: Readonly<Record<Section, string>> = {
  overview: 'how it stands, and how it went',
  accounts: 'the accounts',
  reports: 'what people report, and what was taken down',
  files: 'the newest and the largest files',
  jobs: 'what runs by itself, and the servers',
  notice: 'what everybody is told on every page',
  settings: 'the settings in force',
  audit: 'what administrators have done',
}

function isSection(text: string): text is Section {
  return Object.hasOwn(subjects, text)
}

/** The page holds nothing of anybody: its script asks for all that it shows. */
async function adminPage(call: Call): Promise<Response> {
  const section = call.params.section ?? 'overview'
  const session = await pageSession(call)
  const { pathname, search } = call.url
  if (session === null) return seeOther(`/sign-in?next=${encodeURIComponent(pathname + search)}`)
  if (!session.by.isAdmin) {
    throw new Refusal('ADMIN_NEEDED', 'Only administrators of this server can see this page')
  }
  if (!isSection(section)) throw new Refusal('NOT_FOUND', 'There is no such page')
  const view = { section, canInvite: call.site.config.signUp !== 'closed' }
  return page(call.site, call.site.pages.adminPage(view, await pageReader(call)))
}

export const getAdminPage: Route = {
  method: 'get',
  path: '/admin',
  auth: 'none',
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
}

export const getAdminPageOf: Route = {
  ...aliasOf(getAdminPage, '/admin/{section}'),
  documentation: {
    ...getAdminPage.documentation,
    summary: 'One page of administration',
    params: z.object({
      section: z.string().openapi({ description: Object.keys(subjects).join(', '), example: 'accounts' }),
    }),
  },
}

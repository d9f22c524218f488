import { z } from '@hono/zod-openapi'
import type { Authentication } from '../server/authentication.ts'
import type { Call } from '../server/call.ts'
import { endpoint } from '../server/endpoint.ts'
import type { PagesPart } from './pages.part.ts'
import { page } from './pages.routes.ts'
import { seeOther } from './see-other.ts'

interface Signed {
  readonly authentication: Authentication
  readonly pages: PagesPart
}

/** The page contains no data: its script requests it, like any API client. */
async function filesPage(call: Call, { authentication, pages }: Signed): Promise<Response> {
  const { config, publicUrl } = call.site
  const isKnown =
    (await authentication.pageSession(call)) !== null || call.request.headers.has('authorization')
  if (!isKnown) return seeOther(`/sign-in?next=${encodeURIComponent(call.url.pathname)}`)
  const view = { publicUrl, maxFileSize: config.maxFileSize }
  return page(call.site, pages.render.filesPage(view, await pages.reader(call)))
}

export const getFilesPage = endpoint({
  documentation: {
    summary: 'The file manager',
    tag: 'Site',
    answers: {
      200: { description: 'A page' },
      303: { description: 'Nobody is signed in; on to where one can' },
    },
    errors: [],
  },
  handle: filesPage,
})

export const getFilesPageOf = endpoint({
  ...getFilesPage,
  documentation: {
    ...getFilesPage.documentation,
    summary: 'The file manager, at a folder',
    params: z.object({ identifier: z.string() }),
  },
})

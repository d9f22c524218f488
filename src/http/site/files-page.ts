import { z } from '@hono/zod-openapi'
import type { Call } from '../call.ts'
import { aliasOf, type Route } from '../route.ts'
import { pageSession } from '../session.ts'
import { pageReader } from './page-reader.ts'
import { page } from './pages.ts'
import { seeOther } from './see-other.ts'

/** The page holds nothing of anybody: its script asks for what the caller may see, as any client does. */
async function filesPage(call: Call): Promise<Response> {
  const { config, publicUrl, pages } = call.site
  const isKnown = (await pageSession(call)) !== null || call.request.headers.has('authorization')
  if (!isKnown) return seeOther(`/sign-in?next=${encodeURIComponent(call.url.pathname)}`)
  const view = { publicUrl, maxFileSize: config.maxFileSize }
  return page(call.site, pages.filesPage(view, await pageReader(call)))
}

export const getFilesPage: Route = {
  method: 'get',
  path: '/files',
  auth: 'none',
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
}

export const getFilesPageOf: Route = {
  ...aliasOf(getFilesPage, '/files/{identifier}'),
  documentation: {
    ...getFilesPage.documentation,
    summary: 'The file manager, at a folder',
    params: z.object({ identifier: z.string() }),
  },
}

import { z } from '@hono/zod-openapi'
import type { Call } from '../call.ts'
import { aliasOf, type Route } from '../route.ts'
import { readerOf } from './language.ts'
import { page } from './pages.ts'

/** The page holds nothing of anybody: its script asks for what the caller may see, as any client does. */
async function filesPage(call: Call): Promise<Response> {
  const { config, publicUrl } = call.site
  const view = { publicUrl, maxFileSize: config.maxFileSize }
  return page(call.site, call.site.pages.filesPage(view, readerOf(call.request)))
}

export const getFilesPage: Route = {
  method: 'get',
  path: '/files',
  auth: 'none',
  documentation: {
    summary: 'The file manager',
    tag: 'Site',
    answers: { 200: { description: 'A page' } },
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

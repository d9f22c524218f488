import { z } from '@hono/zod-openapi'
import type { Branding } from '../core/branding.ts'
import { LEGAL_PAGES, parseLegalPage } from '../domain/branding.ts'
import { Refusal } from '../domain/errors.ts'
import { endpoint } from '../server/endpoint.ts'
import type { PagesModule } from './pages.module.ts'
import { page } from './pages.routes.ts'

interface Needs {
  readonly pages: PagesModule
  readonly operations: { readonly branding: Branding }
}

export const getLegalPage = endpoint({
  documentation: {
    summary: 'Open a page that laws ask for',
    description: "The operator's own: who runs this server, what happens to data, terms.",
    tag: 'Site',
    params: z.object({ page: z.enum(LEGAL_PAGES) }),
    answers: { 200: { description: 'A page' } },
    errors: [404],
  },
  async handle(call, { pages, operations }: Needs) {
    const of = parseLegalPage(call.params.page ?? '')
    const markdown = of === null ? null : await operations.branding.legal(of)
    if (of === null || markdown === null) throw new Refusal('NOT_FOUND', 'There is no such page')
    return page(call.site, pages.render.legalPage({ page: of, markdown }, await pages.reader(call)))
  },
})

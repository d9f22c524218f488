import { z } from '@hono/zod-openapi'
import { Refusal } from '../domain/errors.ts'
import { endpoint } from '../server/endpoint.ts'
import { GUIDES, parseGuideName } from './guides.ts'
import type { PagesModule } from './pages.module.ts'
import { page } from './pages.routes.ts'
import { referenceOf } from './reference/reference.ts'

export const getReferencePage = endpoint({
  documentation: {
    summary: 'Open this reference',
    tag: 'Site',
    answers: { 200: { description: 'A page' } },
    errors: [],
  },
  async handle(call, { pages }: { pages: PagesModule }) {
    const { site } = call
    const view = referenceOf(site.openApi(), site.publicUrl)
    return page(site, pages.render.referencePage(view, await pages.reader(call)))
  },
})

export const getGuidePage = endpoint({
  documentation: {
    summary: 'Open a guide',
    description: 'To the API, or to a program that uses it.',
    tag: 'Site',
    params: z.object({ guide: z.enum(GUIDES) }),
    answers: { 200: { description: 'A page' } },
    errors: [404],
  },
  async handle(call, { pages }: { pages: PagesModule }) {
    const { site, params } = call
    const name = parseGuideName(params.guide ?? '')
    if (name === null) throw new Refusal('NOT_FOUND', 'There is no such guide')
    return page(site, pages.render.guidePage({ name, publicUrl: site.publicUrl }, await pages.reader(call)))
  },
})

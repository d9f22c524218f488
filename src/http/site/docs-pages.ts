import { z } from '@hono/zod-openapi'
import { Refusal } from '../../domain/errors.ts'
import type { Route } from '../route.ts'
import { GUIDES, parseGuideName } from './guides.ts'
import { pageReader } from './page-reader.ts'
import { page } from './pages.ts'
import { referenceOf } from './reference.ts'

export const getReferencePage: Route = {
  method: 'get',
  path: '/docs',
  auth: 'none',
  documentation: {
    summary: 'This reference',
    tag: 'Site',
    answers: { 200: { description: 'A page' } },
    errors: [],
  },
  async handle(call) {
    const { site } = call
    const view = referenceOf(site.openApi(), site.publicUrl)
    return page(site, site.pages.referencePage(view, await pageReader(call)))
  },
}

export const getGuidePage: Route = {
  method: 'get',
  path: '/docs/{guide}',
  auth: 'none',
  documentation: {
    summary: 'A guide to the API, or to a program that speaks it',
    tag: 'Site',
    params: z.object({ guide: z.enum(GUIDES) }),
    answers: { 200: { description: 'A page' } },
    errors: [404],
  },
  async handle(call) {
    const { site, params } = call
    const name = parseGuideName(params.guide ?? '')
    if (name === null) throw new Refusal('NOT_FOUND', 'There is no such guide')
    return page(site, site.pages.guidePage({ name, publicUrl: site.publicUrl }, await pageReader(call)))
  },
}

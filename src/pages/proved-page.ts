import type { Authentication } from '../server/authentication.ts'
import { endpoint } from '../server/endpoint.ts'
import type { PagesPart } from './pages.part.ts'
import { page } from './pages.routes.ts'

export const getProvedPage = endpoint({
  documentation: {
    summary: 'Says that it was shown who is there',
    tag: 'Site',
    answers: { 200: { description: 'A page' } },
    errors: [],
  },
  async handle(call, { authentication, pages }: { authentication: Authentication; pages: PagesPart }) {
    await authentication.pageSession(call)
    const nothing = { username: '', address: '', files: 0, days: 0, action: null, retryAfter: null }
    return page(call.site, pages.render.mailPage({ kind: 'proved', ...nothing }, await pages.reader(call)))
  },
})

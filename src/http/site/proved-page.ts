import type { Route } from '../route.ts'
import { pageSession } from '../session.ts'
import { pageReader } from './page-reader.ts'
import { page } from './pages.ts'

/** Where somebody comes back to who has shown at another server that it is them: the page that asked goes on by itself. */
export const getProvedPage: Route = {
  method: 'get',
  path: '/sign-in/proved',
  auth: 'none',
  documentation: {
    summary: 'Says that it was shown who is there',
    tag: 'Site',
    answers: { 200: { description: 'A page' } },
    errors: [],
  },
  async handle(call) {
    await pageSession(call)
    const nothing = { username: '', address: '', files: 0, days: 0, action: null, retryAfter: null }
    return page(call.site, call.site.pages.mailPage({ kind: 'proved', ...nothing }, await pageReader(call)))
  },
}

import { z } from '@hono/zod-openapi'
import type { Onward } from '../../services/oidc.ts'
import { signedOut } from '../../services/sessions.ts'
import { OIDC_CALLBACK } from '../../services/signing-in-terms.ts'
import type { Route } from '../route.ts'
import { browserOf, endPresentSession, pageSession, withCookies } from '../session.ts'
import { nextPath } from './next-path.ts'

export const startOidc: Route = {
  method: 'get',
  path: '/sign-in/oidc',
  auth: 'none',
  documentation: {
    summary: 'Sign in by way of the OpenID Connect server that is configured',
    tag: 'Site',
    query: z.object({
      next: z.string().optional(),
      prove: z.string().optional().openapi({
        description: '1: shows that it is still the person of the present session, which goes on',
      }),
    }),
    answers: { 303: { description: 'On to the other server' } },
    errors: [401, 403, 404, 429],
  },
  async handle(call) {
    const next = nextPath(call.url.searchParams.get('next'))
    if (call.url.searchParams.get('prove') === '1') {
      const present = await pageSession(call)
      if (present === null) throw signedOut()
      return onward(await call.site.services.oidc.begin('/sign-in/proved', call.bucket, present))
    }
    return onward(await call.site.services.oidc.begin(next, call.bucket, null))
  },
}

export const finishOidc: Route = {
  method: 'get',
  path: OIDC_CALLBACK,
  auth: 'none',
  documentation: {
    summary: 'Where the OpenID Connect server sends people back to',
    tag: 'Site',
    query: z.object({ code: z.string().optional(), state: z.string().optional() }),
    answers: { 303: { description: 'Signed in, with the cookie; on to where they came from' } },
    errors: [403, 404, 429],
  },
  async handle(call) {
    const { oidc } = call.site.services
    const present = await pageSession(call)
    const done = await oidc.finish(browserOf(call), call.url.search, call.bucket, present)
    if (done.isNewSession) await endPresentSession(call)
    return onward(done)
  },
}

function onward({ location, cookies }: Onward): Response {
  const headers = { Location: location, 'Cache-Control': 'private, no-store' }
  return withCookies(new Response(null, { status: 303, headers }), cookies)
}

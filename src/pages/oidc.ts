import { z } from '@hono/zod-openapi'
import type { Onward } from '../accounts/sign-in/oidc.ts'
import { browserOf, withCookies } from '../accounts/sign-in/session-cookie.ts'
import { signedOut } from '../accounts/sign-in/sessions.ts'
import type { SignInPart } from '../accounts/sign-in.part.ts'
import type { Authentication } from '../server/authentication.ts'
import { endpoint } from '../server/endpoint.ts'
import { nextPath } from './next-path.ts'

export const startOidc = endpoint({
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
  async handle(call, { authentication, signIn }: { authentication: Authentication; signIn: SignInPart }) {
    const next = nextPath(call.url.searchParams.get('next'))
    if (call.url.searchParams.get('prove') === '1') {
      const present = await authentication.pageSession(call)
      if (present === null) throw signedOut()
      return onward(await signIn.oidc.begin('/sign-in/proved', call.bucket, present))
    }
    return onward(await signIn.oidc.begin(next, call.bucket, null))
  },
})

export const finishOidc = endpoint({
  documentation: {
    summary: 'Where the OpenID Connect server sends people back to',
    tag: 'Site',
    query: z.object({ code: z.string().optional(), state: z.string().optional() }),
    answers: { 303: { description: 'Signed in, with the cookie; on to where they came from' } },
    errors: [403, 404, 429],
  },
  async handle(call, { authentication, signIn }: { authentication: Authentication; signIn: SignInPart }) {
    const present = await authentication.pageSession(call)
    const done = await signIn.oidc.finish(browserOf(call), call.url.search, call.bucket, present)
    if (done.isNewSession) await authentication.endSession(call)
    return onward(done)
  },
})

function onward({ location, cookies }: Onward): Response {
  const headers = { Location: location, 'Cache-Control': 'private, no-store' }
  return withCookies(new Response(null, { status: 303, headers }), cookies)
}

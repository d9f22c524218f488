import { z } from '@hono/zod-openapi'
import { timestamp } from '../../domain/clock.ts'
import type { SessionId } from '../../domain/ids.ts'
import { ownSiteRoute, sessionRoute } from '../route.ts'
import { browserOf, endPresentSession, jsonWithCookies } from '../session.ts'
import { done, rowId, rowNumber } from './answers.ts'
import { dataOf, timestampField } from './fields.ts'

const step = z
  .object({
    next: z.enum(['signed in', 'code']).openapi({
      description: 'Whether that was all, or the code of an app comes next',
    }),
  })
  .openapi('SignInStep')

export const signIn = ownSiteRoute({
  method: 'post',
  path: '/api/v1/session',
  summary: 'Sign in with user name and password; the session comes as a cookie',
  tag: 'Signing in',
  body: z.object({
    username: z.string('must be your user name').min(1, 'must be your user name').max(100),
    password: z.string('must be your password').min(1, 'must be your password').max(1000),
  }),
  answer: dataOf(step),
  errors: [400, 403, 413, 429],
  async handle({ call, body }) {
    const { username, password } = body
    const { next, cookies } = await call.site.services.signIn.withPassword(
      browserOf(call),
      username,
      password,
      call.bucket,
    )
    await endPresentSession(call)
    return jsonWithCookies({ success: true, data: { next } }, cookies)
  },
})

export const signInWithCode = ownSiteRoute({
  method: 'post',
  path: '/api/v1/session/code',
  summary: 'The second step of signing in: the code of an app, or a recovery code',
  tag: 'Signing in',
  body: z.object({ code: z.string('must be the code').min(1, 'must be the code').max(100) }),
  answer: dataOf(step),
  errors: [400, 401, 403, 413, 429],
  async handle({ call, body }) {
    const { next, cookies } = await call.site.services.signIn.withCode(browserOf(call), body.code)
    return jsonWithCookies({ success: true, data: { next } }, cookies)
  },
})

export const signOut = ownSiteRoute({
  method: 'delete',
  path: '/api/v1/session',
  summary: 'Sign out; works as well when nobody is signed in',
  tag: 'Signing in',
  answer: done,
  errors: [403],
  async handle({ call }) {
    await endPresentSession(call)
    return jsonWithCookies({ success: true }, call.site.services.signIn.forget())
  },
})

export const getSession = sessionRoute({
  method: 'get',
  path: '/api/v1/session',
  summary: 'Who is signed in',
  tag: 'Signing in',
  answer: dataOf(
    z
      .object({
        account: z.number().int(),
        username: z.string(),
        is_admin: z.boolean(),
        has_password: z.boolean(),
        has_codes: z.boolean().openapi({ description: 'Whether signing in takes a code besides' }),
        has_passkeys: z.boolean(),
        oidc: z.string().nullable().openapi({
          description: 'What the OpenID Connect server is called, where the account signs in by it',
        }),
        proved_until: timestampField.openapi({
          description: 'Until when nothing asks again for the password, a passkey or the other server',
        }),
      })
      .openapi('Session'),
  ),
  async handle({ call, caller }) {
    const { ownAccount, accounts, proofs, passkeys, oidc } = call.site.services
    const { hasCodes } = await accounts.get(caller)
    return {
      success: true,
      data: {
        account: caller.account,
        username: caller.username,
        is_admin: caller.by.isAdmin,
        has_password: await ownAccount.hasPassword(caller),
        has_codes: hasCodes,
        has_passkeys: (await passkeys.list(caller)).length > 0,
        oidc: (await oidc.knows(caller)) ? (call.site.config.oidc?.name ?? null) : null,
        proved_until: timestamp(proofs.provedUntil(caller)),
      },
    }
  },
})

export const proveByPassword = sessionRoute({
  method: 'post',
  path: '/api/v1/session/proof',
  summary: 'Show by the password that it is still you; what asks for that may be done for ten minutes',
  tag: 'Signing in',
  body: z.object({ password: z.string('must be your password').min(1, 'must be your password').max(1000) }),
  answer: done,
  errors: [400, 413],
  async handle({ call, caller, body }) {
    await call.site.services.proofs.withPassword(caller, body.password)
    return { success: true }
  },
})

export const listSessions = sessionRoute({
  method: 'get',
  path: '/api/v1/sessions',
  summary: 'List the browsers where you are signed in',
  tag: 'Signing in',
  answer: dataOf(
    z.array(
      z
        .object({
          id: z.number().int(),
          user_agent: z.string().nullable(),
          created_at: timestampField,
          last_used_at: timestampField.openapi({ description: 'To the hour' }),
          is_this: z.boolean(),
        })
        .openapi('SignedInBrowser'),
    ),
  ),
  async handle({ call, caller }) {
    const sessions = await call.site.services.sessions.list(caller)
    return {
      success: true,
      data: sessions.map(({ id, userAgent, createdAt, lastUsedAt, isThis }) => ({
        id,
        user_agent: userAgent,
        created_at: timestamp(createdAt),
        last_used_at: timestamp(lastUsedAt),
        is_this: isThis,
      })),
    }
  },
})

export const endSession = sessionRoute({
  method: 'delete',
  path: '/api/v1/session/{id}',
  summary: 'Sign another browser out',
  tag: 'Signing in',
  params: z.object({ id: rowId }),
  answer: done,
  errors: [404],
  async handle({ call, caller, params }) {
    await call.site.services.sessions.end(caller, rowNumber(params.id) as SessionId)
    return { success: true }
  },
})

export const endOtherSessions = sessionRoute({
  method: 'delete',
  path: '/api/v1/sessions',
  summary: 'Sign all other browsers out',
  tag: 'Signing in',
  answer: dataOf(z.object({ ended: z.number().int() })),
  async handle({ call, caller }) {
    return { success: true, data: { ended: await call.site.services.sessions.endOthers(caller) } }
  },
})

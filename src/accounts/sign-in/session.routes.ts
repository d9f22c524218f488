import { z } from '@hono/zod-openapi'
import { type Done, done } from '../../contract/fields.ts'
import {
  type SignInAnswer,
  sessionAnswer,
  sessionsAnswer,
  sessionsEndedAnswer,
  signInAnswer,
} from '../../contract/session.ts'
import { timestamp } from '../../domain/clock.ts'
import type { SessionId } from '../../domain/ids.ts'
import type { Authentication } from '../../server/authentication.ts'
import { openEndpoint, sessionEndpoint } from '../../server/endpoint.ts'
import { rowId, rowNumber } from '../../server/requests/fields.ts'
import type { AccountsPart } from '../accounts.part.ts'
import type { SignInPart } from '../sign-in.part.ts'
import { browserOf, jsonWithCookies } from './session-start.ts'

export const signInEndpoint = openEndpoint({
  summary: 'Sign in',
  description: 'With user name and password. The session comes as a cookie.',
  tag: 'Signing in',
  body: z.object({
    username: z.string('must be your user name').min(1, 'must be your user name').max(100),
    password: z.string('must be your password').min(1, 'must be your password').max(1000),
  }),
  answer: signInAnswer,
  errors: [400, 403, 413, 429],
  async handle(
    { call, body },
    { authentication, signIn }: { authentication: Authentication; signIn: SignInPart },
  ) {
    const { username, password } = body
    const { next, cookies } = await signIn.withPassword(browserOf(call), username, password, call.bucket)
    await authentication.endSession(call)
    return jsonWithCookies({ success: true, data: { next } } satisfies SignInAnswer, cookies)
  },
})

export const signInWithCodeEndpoint = openEndpoint({
  summary: 'Sign in with a code',
  description: 'The second step: the code of an app, or a recovery code.',
  tag: 'Signing in',
  body: z.object({ code: z.string('must be the code').min(1, 'must be the code').max(100) }),
  answer: signInAnswer,
  errors: [400, 401, 403, 413, 429],
  async handle({ call, body }, { signIn }: { signIn: SignInPart }) {
    const { next, cookies } = await signIn.withCode(browserOf(call), body.code)
    return jsonWithCookies({ success: true, data: { next } } satisfies SignInAnswer, cookies)
  },
})

export const signOutEndpoint = openEndpoint({
  summary: 'Sign out',
  description: 'Also works when nobody is signed in.',
  tag: 'Signing in',
  answer: done,
  errors: [403],
  async handle({ call }, { authentication, signIn }: { authentication: Authentication; signIn: SignInPart }) {
    await authentication.endSession(call)
    return jsonWithCookies({ success: true } satisfies Done, signIn.forget())
  },
})

export const getSessionEndpoint = sessionEndpoint({
  summary: 'Get the session',
  description: 'Who is signed in.',
  tag: 'Signing in',
  answer: sessionAnswer,
  async handle({ call, caller }, { accounts, signIn }: { accounts: AccountsPart; signIn: SignInPart }) {
    const { hasCodes } = await accounts.get(caller)
    return {
      success: true,
      data: {
        account: caller.account,
        username: caller.username,
        is_admin: caller.by.isAdmin,
        has_password: await accounts.own.hasPassword(caller),
        has_codes: hasCodes,
        has_passkeys: (await signIn.passkeys.list(caller)).length > 0,
        oidc: (await signIn.oidc.knows(caller)) ? (call.site.config.oidc?.name ?? null) : null,
        proved_until: timestamp(signIn.reauthentication.provedUntil(caller)),
      },
    }
  },
})

export const proveByPasswordEndpoint = sessionEndpoint({
  summary: 'Confirm the password',
  description: 'What asks for that is allowed for ten minutes.',
  tag: 'Signing in',
  body: z.object({ password: z.string('must be your password').min(1, 'must be your password').max(1000) }),
  answer: done,
  errors: [400, 413],
  async handle({ caller, body }, { signIn }: { signIn: SignInPart }) {
    await signIn.reauthentication.withPassword(caller, body.password)
    return { success: true }
  },
})

export const listSessionsEndpoint = sessionEndpoint({
  summary: 'List sessions',
  description: 'The browsers where you are signed in.',
  tag: 'Signing in',
  answer: sessionsAnswer,
  async handle({ caller }, { signIn }: { signIn: SignInPart }) {
    const sessions = await signIn.sessions.list(caller)
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

export const endSessionEndpoint = sessionEndpoint({
  summary: 'End a session',
  description: 'Signs another browser out.',
  tag: 'Signing in',
  params: z.object({ id: rowId }),
  answer: done,
  errors: [404],
  async handle({ caller, params }, { signIn }: { signIn: SignInPart }) {
    await signIn.sessions.end(caller, rowNumber(params.id) as SessionId)
    return { success: true }
  },
})

export const endOtherSessionsEndpoint = sessionEndpoint({
  summary: 'End all other sessions',
  tag: 'Signing in',
  answer: sessionsEndedAnswer,
  async handle({ caller }, { signIn }: { signIn: SignInPart }) {
    return { success: true, data: { ended: await signIn.sessions.endOthers(caller) } }
  },
})

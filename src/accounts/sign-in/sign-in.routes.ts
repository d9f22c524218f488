import { z } from '@hono/zod-openapi'
import { oneTimeLinkAnswer } from '../../contract/administration.ts'
import { type Done, done } from '../../contract/fields.ts'
import {
  newSecondFactorAnswer,
  recoveryCodesAnswer,
  type SignInAnswer,
  sessionAnswer,
  sessionsAnswer,
  sessionsEndedAnswer,
  signInAnswer,
} from '../../contract/session.ts'
import { timestamp } from '../../domain/clock.ts'
import type { SessionId } from '../../domain/ids.ts'
import { adminEndpoint, openEndpoint, sessionEndpoint } from '../../server/endpoint.ts'
import { parseRowId, presentPassword, rowId } from '../../server/requests/fields.ts'
import type { AccountsModule } from '../accounts.module.ts'
import type { Authentication } from '../authentication.ts'
import type { SignInModule } from '../sign-in.module.ts'
import { assertRecentAuthentication } from './reauthentication.ts'
import { jsonWithCookies } from './sessions.ts'

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
    { authentication, signIn }: { authentication: Authentication; signIn: SignInModule },
  ) {
    const { username, password } = body
    const { next, cookies } = await signIn.withPassword(call, username, password, call.bucket)
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
  async handle({ call, body }, { signIn }: { signIn: SignInModule }) {
    const { next, cookies } = await signIn.withCode(call, body.code)
    return jsonWithCookies({ success: true, data: { next } } satisfies SignInAnswer, cookies)
  },
})

export const signOutEndpoint = openEndpoint({
  summary: 'Sign out',
  description: 'Also works when nobody is signed in.',
  tag: 'Signing in',
  answer: done,
  errors: [403],
  async handle(
    { call },
    { authentication, signIn }: { authentication: Authentication; signIn: SignInModule },
  ) {
    await authentication.endSession(call)
    return jsonWithCookies({ success: true } satisfies Done, signIn.forget())
  },
})

export const getSessionEndpoint = sessionEndpoint({
  summary: 'Get the session',
  description: 'Who is signed in.',
  tag: 'Signing in',
  answer: sessionAnswer,
  async handle({ call, caller }, { accounts, signIn }: { accounts: AccountsModule; signIn: SignInModule }) {
    const { displayName, hasCodes } = await accounts.get(caller)
    return {
      success: true,
      data: {
        account: caller.account,
        username: caller.username,
        display_name: displayName,
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
  async handle({ caller, body }, { signIn }: { signIn: SignInModule }) {
    await signIn.reauthentication.withPassword(caller, body.password)
    return { success: true }
  },
})

export const listSessionsEndpoint = sessionEndpoint({
  summary: 'List sessions',
  description: 'The browsers where you are signed in.',
  tag: 'Signing in',
  answer: sessionsAnswer,
  async handle({ caller }, { signIn }: { signIn: SignInModule }) {
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
  async handle({ caller, params }, { signIn }: { signIn: SignInModule }) {
    await signIn.sessions.end(caller, parseRowId<SessionId>(params.id))
    return { success: true }
  },
})

export const endOtherSessionsEndpoint = sessionEndpoint({
  summary: 'End all other sessions',
  tag: 'Signing in',
  answer: sessionsEndedAnswer,
  async handle({ caller }, { signIn }: { signIn: SignInModule }) {
    return { success: true, data: { ended: await signIn.sessions.endOthers(caller) } }
  },
})

const username = z.string('must be the user name').max(100)
const password = z.string('must be the password').max(1000)
const token = z.string('must be what stands at the end of the link').max(200)

export const signUpEndpoint = openEndpoint({
  summary: 'Create an account',
  description: 'As far as this server lets people do so. Signs in.',
  tag: 'Signing in',
  body: z.object({ username, password, invitation: token.nullish() }),
  answer: done,
  errors: [400, 403, 404, 409, 413, 429],
  async handle(
    { call, body },
    { authentication, signIn }: { authentication: Authentication; signIn: SignInModule },
  ) {
    await signIn.signUp.join(body, body.invitation ?? null, call)
    const { cookies } = await signIn.withNewPassword(call, body.username, body.password)
    await authentication.endSession(call)
    return jsonWithCookies({ success: true } satisfies Done, cookies)
  },
})

export const makeFirstAdministratorEndpoint = openEndpoint({
  summary: 'Create the first administrator',
  description: 'By the link that the server printed. Signs in.',
  tag: 'Signing in',
  body: z.object({ username, password, token }),
  answer: done,
  errors: [400, 403, 404, 409, 413, 429],
  async handle(
    { call, body },
    { authentication, signIn }: { authentication: Authentication; signIn: SignInModule },
  ) {
    await signIn.signUp.first(body, body.token, call)
    const { cookies } = await signIn.withNewPassword(call, body.username, body.password)
    await authentication.endSession(call)
    return jsonWithCookies({ success: true } satisfies Done, cookies)
  },
})

export const setPasswordEndpoint = openEndpoint({
  summary: 'Set a password by a link',
  description: 'One that was made for the account. All its sessions end.',
  tag: 'Signing in',
  body: z.object({ password, token }),
  answer: done,
  errors: [400, 403, 404, 413, 429],
  async handle({ body }, { signIn }: { signIn: SignInModule }) {
    await signIn.signUp.setPassword(body.token, body.password)
    return { success: true }
  },
})

export const inviteEndpoint = adminEndpoint({
  summary: 'Create an invitation',
  description: 'A link by which somebody can make one account.',
  status: 201,
  answer: oneTimeLinkAnswer,
  async handle({ call, caller }, { accounts, signIn }: { accounts: AccountsModule; signIn: SignInModule }) {
    assertRecentAuthentication(call, signIn.reauthentication)
    const { path, expiresAt } = await accounts.oneTimeLinks.invitation(caller)
    return {
      success: true,
      data: { url: call.site.publicUrl + path, expires_at: timestamp(expiresAt) },
    }
  },
})

export const beginCodesEndpoint = sessionEndpoint({
  summary: 'Create a secret for an authenticator app',
  description: 'In force from the first right code on.',
  tag: 'Signing in',
  body: z.object({ password: presentPassword }),
  answer: newSecondFactorAnswer,
  errors: [400, 413],
  async handle({ caller, body }, { signIn }: { signIn: SignInModule }) {
    const made = await signIn.secondFactor.begin(caller, body.password ?? null)
    const { uri, secret, recoveryCodes: recovery_codes } = made
    return { success: true, data: { uri, secret, recovery_codes } }
  },
})

export const confirmCodesEndpoint = sessionEndpoint({
  summary: 'Confirm an authenticator app',
  description: 'By its first code. Signing in takes a code from now on.',
  tag: 'Signing in',
  body: z.object({ code: z.string('must be the code').max(20) }),
  answer: done,
  errors: [400, 413],
  async handle({ call, caller, body }, { signIn }: { signIn: SignInModule }) {
    const cookies = await signIn.secondFactor.finish(caller, call, body.code)
    return jsonWithCookies({ success: true } satisfies Done, cookies)
  },
})

export const renewRecoveryCodesEndpoint = sessionEndpoint({
  summary: 'Create recovery codes',
  description: 'Earlier ones do not work any more.',
  tag: 'Signing in',
  body: z.object({ password: presentPassword }),
  answer: recoveryCodesAnswer,
  errors: [400, 413],
  async handle({ caller, body }, { signIn }: { signIn: SignInModule }) {
    const codes = await signIn.secondFactor.renewRecovery(caller, body.password ?? null)
    return { success: true, data: { recovery_codes: codes } }
  },
})

export const endCodesEndpoint = sessionEndpoint({
  summary: 'Remove the authenticator app',
  description: 'Signing in takes no code from now on.',
  tag: 'Signing in',
  body: z.object({ password: presentPassword }),
  answer: done,
  errors: [400, 413],
  async handle({ call, caller, body }, { signIn }: { signIn: SignInModule }) {
    const cookies = await signIn.secondFactor.end(caller, call, body.password ?? null)
    return jsonWithCookies({ success: true } satisfies Done, cookies)
  },
})

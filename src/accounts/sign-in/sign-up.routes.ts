import { z } from '@hono/zod-openapi'
import { oneTimeLinkAnswer } from '../../contract/administration.ts'
import { type Done, done } from '../../contract/fields.ts'
import { timestamp } from '../../domain/clock.ts'
import type { Authentication } from '../../server/authentication.ts'
import { adminEndpoint, openEndpoint } from '../../server/endpoint.ts'
import type { AccountsPart } from '../accounts.part.ts'
import type { SignInPart } from '../sign-in.part.ts'
import { assertRecentAuthentication } from './recent-authentication.ts'
import { browserOf, jsonWithCookies } from './session-start.ts'

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
    { authentication, signIn }: { authentication: Authentication; signIn: SignInPart },
  ) {
    await signIn.signUp.join(body, body.invitation ?? null, call)
    const { cookies } = await signIn.withNewPassword(browserOf(call), body.username, body.password)
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
    { authentication, signIn }: { authentication: Authentication; signIn: SignInPart },
  ) {
    await signIn.signUp.first(body, body.token, call)
    const { cookies } = await signIn.withNewPassword(browserOf(call), body.username, body.password)
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
  async handle({ body }, { signIn }: { signIn: SignInPart }) {
    await signIn.signUp.setPassword(body.token, body.password)
    return { success: true }
  },
})

export const inviteEndpoint = adminEndpoint({
  summary: 'Create an invitation',
  description: 'A link by which somebody can make one account.',
  status: 201,
  answer: oneTimeLinkAnswer,
  async handle({ call, caller }, { accounts, signIn }: { accounts: AccountsPart; signIn: SignInPart }) {
    assertRecentAuthentication(call, signIn.reauthentication)
    const { path, expiresAt } = await accounts.oneTimeLinks.invitation(caller)
    return {
      success: true,
      data: { url: call.site.publicUrl + path, expires_at: timestamp(expiresAt) },
    }
  },
})

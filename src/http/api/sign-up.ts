import { z } from '@hono/zod-openapi'
import { timestamp } from '../../domain/clock.ts'
import { assertProved } from '../proof.ts'
import { adminRoute, ownSiteRoute } from '../route.ts'
import { browserOf, endPresentSession, jsonWithCookies } from '../session.ts'
import { done } from './answers.ts'
import { dataOf, timestampField } from './fields.ts'

const username = z.string('must be the user name').max(100)
const password = z.string('must be the password').max(1000)
const token = z.string('must be what stands at the end of the link').max(200)

export const signUp = ownSiteRoute({
  method: 'post',
  path: '/api/v1/account',
  summary: 'Make an account, as far as this server lets people do so, and sign in',
  tag: 'Signing in',
  body: z.object({ username, password, invitation: token.nullish() }),
  answer: done,
  errors: [400, 403, 404, 409, 413, 429],
  async handle({ call, body }) {
    await call.site.services.signUp.join(body, body.invitation ?? null, call)
    const { cookies } = await call.site.services.signIn.withNewPassword(
      browserOf(call),
      body.username,
      body.password,
    )
    await endPresentSession(call)
    return jsonWithCookies({ success: true }, cookies)
  },
})

export const makeFirstAdministrator = ownSiteRoute({
  method: 'post',
  path: '/api/v1/account/first',
  summary: 'Make the first administrator by the link that the server printed, and sign in',
  tag: 'Signing in',
  body: z.object({ username, password, token }),
  answer: done,
  errors: [400, 403, 404, 409, 413, 429],
  async handle({ call, body }) {
    await call.site.services.signUp.first(body, body.token, call)
    const { cookies } = await call.site.services.signIn.withNewPassword(
      browserOf(call),
      body.username,
      body.password,
    )
    await endPresentSession(call)
    return jsonWithCookies({ success: true }, cookies)
  },
})

export const setPassword = ownSiteRoute({
  method: 'post',
  path: '/api/v1/account/password',
  summary: 'Set the password by a link that was made for the account; all its sessions end',
  tag: 'Signing in',
  body: z.object({ password, token }),
  answer: done,
  errors: [400, 403, 404, 413, 429],
  async handle({ call, body }) {
    await call.site.services.signUp.setPassword(body.token, body.password)
    return { success: true }
  },
})

export const invite = adminRoute({
  method: 'post',
  path: '/api/v1/invitations',
  summary: 'Make a link by which somebody can make one account, unless nobody may',
  status: 201,
  answer: dataOf(z.object({ url: z.string(), expires_at: timestampField })),
  async handle({ call, caller }) {
    assertProved(call)
    const { path, expiresAt } = await call.site.services.oneTimeLinks.invitation(caller)
    return {
      success: true,
      data: { url: call.site.publicUrl + path, expires_at: timestamp(expiresAt) },
    }
  },
})

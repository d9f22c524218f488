import { z } from '@hono/zod-openapi'
import { Refusal } from '../../domain/errors.ts'
import { sessionRoute } from '../route.ts'
import { browserOf, jsonWithCookies } from '../session.ts'
import { done, presentPassword } from './answers.ts'
import { dataOf } from './fields.ts'

export const changeAccount = sessionRoute({
  method: 'patch',
  path: '/api/v1/account',
  summary: 'Change your user name or your password; a new password ends all other sessions',
  tag: 'Signing in',
  body: z.object({
    password: presentPassword,
    username: z.string('must be the new user name').max(100).optional(),
    new_password: z.string('must be the new password').max(1000).optional(),
  }),
  answer: dataOf(z.object({ username: z.string() })),
  errors: [400, 409, 413],
  async handle({ call, caller, body }) {
    const { ownAccount, signIn } = call.site.services
    const { password, username: name, new_password: next } = body
    if (name === undefined && next === undefined) {
      throw new Refusal('INVALID_REQUEST', 'Give "username" or "new_password"')
    }
    const change = { username: name, password: next }
    const username = await ownAccount.change(caller, password ?? null, change)
    const answer = { success: true, data: { username } }
    if (next === undefined) return answer
    return jsonWithCookies(answer, await signIn.remember(browserOf(call), caller.account))
  },
})

export const removeAccount = sessionRoute({
  method: 'post',
  path: '/api/v1/account/delete',
  summary: 'Delete your account with every file in it, for good',
  tag: 'Signing in',
  body: z.object({
    password: presentPassword,
    username: z.string('must be your user name, to be sure').max(100),
  }),
  answer: done,
  errors: [400, 409, 413],
  async handle({ call, caller, body }) {
    if (body.username.toLowerCase() !== caller.username) {
      throw new Refusal('INVALID_REQUEST', '"username": must be your own user name, to be sure')
    }
    await call.site.services.ownAccount.remove(caller, body.password ?? null)
    return jsonWithCookies({ success: true }, call.site.services.signIn.forget())
  },
})

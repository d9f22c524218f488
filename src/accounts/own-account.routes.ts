import { z } from '@hono/zod-openapi'
import { type AccountChangedAnswer, accountChangedAnswer } from '../contract/account.ts'
import { type Done, done } from '../contract/fields.ts'
import { Refusal } from '../domain/errors.ts'
import { sessionEndpoint } from '../server/endpoint.ts'
import { presentPassword } from '../server/requests/fields.ts'
import type { AccountsPart } from './accounts.part.ts'
import { browserOf, jsonWithCookies } from './sign-in/session-cookie.ts'
import type { SignInPart } from './sign-in.part.ts'

export const changeAccountEndpoint = sessionEndpoint({
  summary: 'Update your account',
  description: 'The user name or the password. A new password ends all other sessions.',
  tag: 'Signing in',
  body: z.object({
    password: presentPassword,
    username: z.string('must be the new user name').max(100).optional(),
    new_password: z.string('must be the new password').max(1000).optional(),
  }),
  answer: accountChangedAnswer,
  errors: [400, 409, 413],
  async handle({ call, caller, body }, { accounts, signIn }: { accounts: AccountsPart; signIn: SignInPart }) {
    const { password, username: name, new_password: next } = body
    if (name === undefined && next === undefined) {
      throw new Refusal('INVALID_REQUEST', 'Give "username" or "new_password"')
    }
    const change = { username: name, password: next }
    const username = await accounts.own.change(caller, password ?? null, change)
    const answer: AccountChangedAnswer = { success: true, data: { username } }
    if (next === undefined) return answer
    return jsonWithCookies(answer, await signIn.remember(browserOf(call), caller.account))
  },
})

export const removeAccountEndpoint = sessionEndpoint({
  summary: 'Delete your account',
  description: 'With every file in it, for good.',
  tag: 'Signing in',
  body: z.object({
    password: presentPassword,
    username: z.string('must be your user name, to be sure').max(100),
  }),
  answer: done,
  errors: [400, 409, 413],
  async handle({ caller, body }, { accounts, signIn }: { accounts: AccountsPart; signIn: SignInPart }) {
    if (body.username.toLowerCase() !== caller.username) {
      throw new Refusal('INVALID_REQUEST', '"username": must be your own user name, to confirm')
    }
    await accounts.own.remove(caller, body.password ?? null)
    return jsonWithCookies({ success: true } satisfies Done, signIn.forget())
  },
})

import { z } from '@hono/zod-openapi'
import { type Done, done } from '../../contract/fields.ts'
import { newSecondFactorAnswer, recoveryCodesAnswer } from '../../contract/session.ts'
import { sessionEndpoint } from '../../server/endpoint.ts'
import { presentPassword } from '../../server/requests/fields.ts'
import type { SignInPart } from '../sign-in.part.ts'
import { browserOf, jsonWithCookies } from './session-start.ts'

export const beginCodesEndpoint = sessionEndpoint({
  summary: 'Create a secret for an authenticator app',
  description: 'In force from the first right code on.',
  tag: 'Signing in',
  body: z.object({ password: presentPassword }),
  answer: newSecondFactorAnswer,
  errors: [400, 413],
  async handle({ caller, body }, { signIn }: { signIn: SignInPart }) {
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
  async handle({ call, caller, body }, { signIn }: { signIn: SignInPart }) {
    const cookies = await signIn.secondFactor.finish(caller, browserOf(call), body.code)
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
  async handle({ caller, body }, { signIn }: { signIn: SignInPart }) {
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
  async handle({ call, caller, body }, { signIn }: { signIn: SignInPart }) {
    const cookies = await signIn.secondFactor.end(caller, browserOf(call), body.password ?? null)
    return jsonWithCookies({ success: true } satisfies Done, cookies)
  },
})

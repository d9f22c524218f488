import { z } from '@hono/zod-openapi'
import { sessionRoute } from '../route.ts'
import { browserOf, jsonWithCookies } from '../session.ts'
import { done, presentPassword } from './answers.ts'
import { dataOf } from './fields.ts'

const recoveryCodes = z.array(z.string()).openapi({ description: 'Each works once; shown only now' })

export const beginCodes = sessionRoute({
  method: 'post',
  path: '/api/v1/account/codes',
  summary: 'Make a secret for an app that shows codes; it counts from the first right code on',
  tag: 'Signing in',
  body: z.object({ password: presentPassword }),
  answer: dataOf(
    z
      .object({
        uri: z.string().openapi({ description: 'For the app, as a QR code: otpauth://…' }),
        secret: z.string().openapi({ description: 'In base32, to be typed' }),
        recovery_codes: recoveryCodes,
      })
      .openapi('NewSecondFactor'),
  ),
  errors: [400, 413],
  async handle({ call, caller, body }) {
    const made = await call.site.services.secondFactor.begin(caller, browserOf(call), body.password ?? null)
    const { uri, secret, recoveryCodes: recovery_codes } = made
    return { success: true, data: { uri, secret, recovery_codes } }
  },
})

export const confirmCodes = sessionRoute({
  method: 'post',
  path: '/api/v1/account/codes/confirm',
  summary: 'Show by the first code that the app has the secret; signing in takes a code from now on',
  tag: 'Signing in',
  body: z.object({ code: z.string('must be the code').max(20) }),
  answer: done,
  errors: [400, 413],
  async handle({ call, caller, body }) {
    const cookies = await call.site.services.secondFactor.finish(caller, browserOf(call), body.code)
    return jsonWithCookies({ success: true }, cookies)
  },
})

export const renewRecoveryCodes = sessionRoute({
  method: 'post',
  path: '/api/v1/account/codes/recovery',
  summary: 'Make new recovery codes; those from before do not work any more',
  tag: 'Signing in',
  body: z.object({ password: presentPassword }),
  answer: dataOf(z.object({ recovery_codes: recoveryCodes })),
  errors: [400, 413],
  async handle({ call, caller, body }) {
    const { secondFactor } = call.site.services
    const codes = await secondFactor.renewRecovery(caller, browserOf(call), body.password ?? null)
    return { success: true, data: { recovery_codes: codes } }
  },
})

export const endCodes = sessionRoute({
  method: 'post',
  path: '/api/v1/account/codes/delete',
  summary: 'Sign in without codes from now on',
  tag: 'Signing in',
  body: z.object({ password: presentPassword }),
  answer: done,
  errors: [400, 413],
  async handle({ call, caller, body }) {
    const cookies = await call.site.services.secondFactor.end(caller, browserOf(call), body.password ?? null)
    return jsonWithCookies({ success: true }, cookies)
  },
})

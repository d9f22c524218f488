import { z } from '@hono/zod-openapi'
import { timestamp } from '../../domain/clock.ts'
import type { PasskeyId } from '../../domain/ids.ts'
import { TEXT_BODY } from '../body.ts'
import { ownSiteRoute, sessionRoute } from '../route.ts'
import { browserOf, endPresentSession, jsonWithCookies } from '../session.ts'
import { done, presentPassword, rowId, rowNumber } from './answers.ts'
import { dataOf, timestampField } from './fields.ts'

/** Browsers read and write these by themselves: `parseRequestOptionsFromJSON`, `toJSON`. */
const options = z.looseObject({}).openapi('PasskeyOptions', { description: 'As WebAuthn has it in JSON' })

/** How a browser reaches what keeps the passkey. */
const transport = z
  .string()
  .regex(/^[\w-]{1,50}$/)
  .openapi({ example: 'internal' })

const extensions = z.looseObject({})

export const listPasskeys = sessionRoute({
  method: 'get',
  path: '/api/v1/passkeys',
  summary: 'List your passkeys',
  tag: 'Signing in',
  answer: dataOf(
    z.array(
      z
        .object({ id: z.number().int(), name: z.string().nullable(), created_at: timestampField })
        .openapi('Passkey'),
    ),
  ),
  async handle({ call, caller }) {
    const passkeys = await call.site.services.passkeys.list(caller)
    return {
      success: true,
      data: passkeys.map(({ id, name, createdAt }) => ({ id, name, created_at: timestamp(createdAt) })),
    }
  },
})

export const beginPasskey = sessionRoute({
  method: 'post',
  path: '/api/v1/passkeys/options',
  summary: 'Ask what the browser is to make a passkey by',
  tag: 'Signing in',
  body: z.object({ password: presentPassword }),
  answer: dataOf(options),
  errors: [400, 413],
  async handle({ call, caller, body }) {
    const { passkeys } = call.site.services
    const ceremony = await passkeys.beginAdding(caller, browserOf(call), body.password ?? null)
    return jsonWithCookies({ success: true, data: ceremony.options }, ceremony.cookies)
  },
})

export const addPasskey = sessionRoute({
  method: 'post',
  path: '/api/v1/passkeys',
  summary: 'Keep the passkey that the browser has made',
  bodyLimit: TEXT_BODY,
  tag: 'Signing in',
  body: z.object({
    name: z.string('must be a name').max(200),
    answer: z.looseObject({
      id: z.string(),
      type: z.literal('public-key'),
      response: z.looseObject({ transports: z.array(transport).optional() }),
    }),
  }),
  answer: done,
  errors: [400, 413],
  async handle({ call, body }) {
    await call.site.services.passkeys.add(browserOf(call), body.answer, body.name)
    return { success: true }
  },
})

export const renamePasskey = sessionRoute({
  method: 'patch',
  path: '/api/v1/passkey/{id}',
  summary: 'Give a passkey another name',
  tag: 'Signing in',
  params: z.object({ id: rowId }),
  body: z.object({ name: z.string('must be a name').max(200) }),
  answer: done,
  errors: [400, 404, 413],
  async handle({ call, caller, params, body }) {
    await call.site.services.passkeys.rename(caller, rowNumber(params.id) as PasskeyId, body.name)
    return { success: true }
  },
})

export const removePasskey = sessionRoute({
  method: 'delete',
  path: '/api/v1/passkey/{id}',
  summary: 'Remove a passkey',
  tag: 'Signing in',
  params: z.object({ id: rowId }),
  answer: done,
  errors: [404],
  async handle({ call, caller, params }) {
    await call.site.services.passkeys.remove(caller, rowNumber(params.id) as PasskeyId)
    return { success: true }
  },
})

export const beginPasskeySignIn = ownSiteRoute({
  method: 'post',
  path: '/api/v1/session/passkey/options',
  summary: 'Ask what the browser is to sign in by',
  tag: 'Signing in',
  answer: dataOf(options),
  errors: [403, 429],
  async handle({ call }) {
    const ceremony = await call.site.services.passkeys.beginSignIn(browserOf(call), call.bucket)
    return jsonWithCookies({ success: true, data: ceremony.options }, ceremony.cookies)
  },
})

/** How a browser answers when a passkey was used. */
const answerBody = z.object({
  answer: z.object({
    id: z.string(),
    rawId: z.string(),
    type: z.literal('public-key'),
    response: z.object({
      clientDataJSON: z.string(),
      authenticatorData: z.string(),
      signature: z.string(),
    }),
    clientExtensionResults: extensions,
  }),
})

export const signInWithPasskey = ownSiteRoute({
  method: 'post',
  path: '/api/v1/session/passkey',
  summary: 'Sign in with a passkey',
  bodyLimit: TEXT_BODY,
  tag: 'Signing in',
  body: answerBody,
  answer: done,
  errors: [400, 403, 413],
  async handle({ call, body }) {
    const { cookies } = await call.site.services.passkeys.signIn(browserOf(call), body.answer)
    await endPresentSession(call)
    return jsonWithCookies({ success: true }, cookies)
  },
})

export const proveByPasskey = sessionRoute({
  method: 'post',
  path: '/api/v1/session/proof/passkey',
  summary: 'Show by a passkey that it is still you; its options are those for signing in',
  bodyLimit: TEXT_BODY,
  tag: 'Signing in',
  body: answerBody,
  answer: done,
  errors: [400, 403, 413],
  async handle({ call, caller, body }) {
    await call.site.services.passkeys.prove(caller, browserOf(call), body.answer)
    return { success: true }
  },
})

import { z } from '@hono/zod-openapi'
import { type Done, done } from '../../contract/fields.ts'
import { type PasskeyOptionsAnswer, passkeyOptionsAnswer, passkeysAnswer } from '../../contract/session.ts'
import { timestamp } from '../../domain/clock.ts'
import type { PasskeyId } from '../../domain/ids.ts'
import { openEndpoint, sessionEndpoint } from '../../server/endpoint.ts'
import { parseRowId, presentPassword, rowId } from '../../server/requests/fields.ts'
import type { Authentication } from '../authentication.ts'
import type { SignInModule } from '../sign-in.module.ts'
import type { Ceremony } from './passkeys.ts'
import { jsonWithCookies } from './sessions.ts'

const transport = z
  .string()
  .regex(/^[\w-]{1,50}$/)
  .openapi({ example: 'internal' })

const extensions = z.looseObject({})

function optionsOf({ options }: Ceremony): PasskeyOptionsAnswer {
  return { success: true, data: { ...options } }
}

export const listPasskeysEndpoint = sessionEndpoint({
  summary: 'List passkeys',
  tag: 'Signing in',
  answer: passkeysAnswer,
  async handle({ caller }, { signIn }: { signIn: SignInModule }) {
    const passkeys = await signIn.passkeys.list(caller)
    return {
      success: true,
      data: passkeys.map(({ id, name, createdAt }) => ({ id, name, created_at: timestamp(createdAt) })),
    }
  },
})

export const beginPasskeyEndpoint = sessionEndpoint({
  summary: 'Get options for a new passkey',
  description: 'For the browser, which makes it.',
  tag: 'Signing in',
  body: z.object({ password: presentPassword }),
  answer: passkeyOptionsAnswer,
  errors: [400, 413],
  async handle({ caller, body }, { signIn }: { signIn: SignInModule }) {
    const ceremony = await signIn.passkeys.beginAdding(caller, body.password ?? null)
    return jsonWithCookies(optionsOf(ceremony), ceremony.cookies)
  },
})

export const addPasskeyEndpoint = sessionEndpoint({
  summary: 'Create a passkey',
  description: 'Keeps the one that the browser has made.',
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
  async handle({ call, caller, body }, { signIn }: { signIn: SignInModule }) {
    await signIn.passkeys.add(caller, call, body.answer, body.name)
    return { success: true }
  },
})

export const renamePasskeyEndpoint = sessionEndpoint({
  summary: 'Rename a passkey',
  tag: 'Signing in',
  params: z.object({ id: rowId }),
  body: z.object({ name: z.string('must be a name').max(200) }),
  answer: done,
  errors: [400, 404, 413],
  async handle({ caller, params, body }, { signIn }: { signIn: SignInModule }) {
    await signIn.passkeys.rename(caller, parseRowId<PasskeyId>(params.id), body.name)
    return { success: true }
  },
})

export const removePasskeyEndpoint = sessionEndpoint({
  summary: 'Delete a passkey',
  tag: 'Signing in',
  params: z.object({ id: rowId }),
  answer: done,
  errors: [404],
  async handle({ caller, params }, { signIn }: { signIn: SignInModule }) {
    await signIn.passkeys.remove(caller, parseRowId<PasskeyId>(params.id))
    return { success: true }
  },
})

export const beginPasskeySignInEndpoint = openEndpoint({
  summary: 'Get options for signing in with a passkey',
  description: 'For the browser.',
  tag: 'Signing in',
  answer: passkeyOptionsAnswer,
  errors: [403, 429],
  async handle({ call }, { signIn }: { signIn: SignInModule }) {
    const ceremony = await signIn.passkeys.beginSignIn(call.bucket)
    return jsonWithCookies(optionsOf(ceremony), ceremony.cookies)
  },
})

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

export const signInWithPasskeyEndpoint = openEndpoint({
  summary: 'Sign in with a passkey',
  tag: 'Signing in',
  body: answerBody,
  answer: done,
  errors: [400, 403, 413],
  async handle(
    { call, body },
    { authentication, signIn }: { authentication: Authentication; signIn: SignInModule },
  ) {
    const { cookies } = await signIn.passkeys.signIn(call, body.answer)
    await authentication.endSession(call)
    return jsonWithCookies({ success: true } satisfies Done, cookies)
  },
})

export const proveByPasskeyEndpoint = sessionEndpoint({
  summary: 'Confirm by a passkey',
  description: 'As by the password. The options are those for signing in.',
  tag: 'Signing in',
  body: answerBody,
  answer: done,
  errors: [400, 403, 413],
  async handle({ call, caller, body }, { signIn }: { signIn: SignInModule }) {
    await signIn.passkeys.prove(caller, call, body.answer)
    return { success: true }
  },
})

import { z } from '@hono/zod-openapi'
import { sessionRoute } from '../route.ts'
import { readerOf } from '../site/language.ts'
import { done, presentPassword } from './answers.ts'
import { dataOf } from './fields.ts'

const PATH = '/api/v1/account/mail'

const address = z.string().nullable()

export const getMail = sessionRoute({
  method: 'get',
  path: PATH,
  summary: 'Where your mail goes, and whether this server sends any',
  tag: 'Signing in',
  answer: dataOf(
    z
      .object({
        is_on: z.boolean().openapi({ description: 'Whether this server sends mail' }),
        address: address.openapi({ description: 'The address that you have confirmed' }),
        pending: address.openapi({ description: 'The address that waits for that' }),
        warnings: z.boolean().openapi({ description: 'Whether you are told before unused files go' }),
      })
      .openapi('MailSettings'),
  ),
  async handle({ call, caller }) {
    const { isOn, ...mail } = await call.site.services.mailAddresses.get(caller)
    return { success: true, data: { is_on: isOn, ...mail } }
  },
})

export const setMailAddress = sessionRoute({
  method: 'post',
  path: PATH,
  summary: 'Send a link to an address; who opens it and confirms makes it yours',
  tag: 'Signing in',
  body: z.object({
    address: z.string('must be a mail address').max(254),
    password: presentPassword,
  }),
  answer: done,
  errors: [400, 413],
  async handle({ call, caller, body }) {
    const { language } = readerOf(call.request)
    await call.site.services.mailAddresses.set(caller, body.password ?? null, body.address, language)
    return { success: true }
  },
})

export const changeMail = sessionRoute({
  method: 'patch',
  path: PATH,
  summary: 'Say whether you are told before unused files go',
  tag: 'Signing in',
  body: z.object({ warnings: z.boolean('must be true or false') }),
  answer: done,
  errors: [400, 413],
  async handle({ call, caller, body }) {
    const { language } = readerOf(call.request)
    await call.site.services.mailAddresses.setWarnings(caller, body.warnings, language)
    return { success: true }
  },
})

export const removeMail = sessionRoute({
  method: 'post',
  path: `${PATH}/delete`,
  summary: 'Forget your address; no more mail is sent to you',
  tag: 'Signing in',
  body: z.object({ password: presentPassword }),
  answer: done,
  errors: [400, 413],
  async handle({ call, caller, body }) {
    await call.site.services.mailAddresses.remove(caller, body.password ?? null)
    return { success: true }
  },
})

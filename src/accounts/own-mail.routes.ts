import { z } from '@hono/zod-openapi'
import { mailAnswer } from '../contract/account.ts'
import { done } from '../contract/fields.ts'
import { DOWNLOAD_MAILS } from '../domain/link-event.ts'
import { sessionEndpoint } from '../server/endpoint.ts'
import { presentPassword } from '../server/requests/fields.ts'
import { readerOf } from '../server/requests/language.ts'
import type { AccountsPart } from './accounts.part.ts'

export const getMailEndpoint = sessionEndpoint({
  summary: 'Get mail settings',
  description: 'Where your mail goes, and whether this server sends any.',
  tag: 'Signing in',
  answer: mailAnswer,
  async handle({ caller }, { accounts }: { accounts: AccountsPart }) {
    const { isOn, ...mail } = await accounts.mailAddresses.get(caller)
    return { success: true, data: { is_on: isOn, ...mail } }
  },
})

export const setMailAddressEndpoint = sessionEndpoint({
  summary: 'Set the mail address',
  description: 'Sends a link there. It is yours once the link is opened and confirmed.',
  tag: 'Signing in',
  body: z.object({
    address: z.string('must be a mail address').max(254),
    password: presentPassword,
  }),
  answer: done,
  errors: [400, 413],
  async handle({ call, caller, body }, { accounts }: { accounts: AccountsPart }) {
    const { language } = readerOf(call.request)
    await accounts.mailAddresses.set(caller, body.password ?? null, body.address, language)
    return { success: true }
  },
})

export const changeMailEndpoint = sessionEndpoint({
  summary: 'Update mail settings',
  description: 'Which mails about your files and links you want.',
  tag: 'Signing in',
  body: z
    .object({
      warnings: z.boolean('must be true or false').optional(),
      downloads: z.enum(DOWNLOAD_MAILS, `must be one of ${DOWNLOAD_MAILS.join(', ')}`).optional(),
    })
    .refine(({ warnings, downloads }) => warnings !== undefined || downloads !== undefined, {
      path: ['warnings'],
      message: 'give it or "downloads"',
    }),
  answer: done,
  errors: [400, 413],
  async handle({ call, caller, body }, { accounts }: { accounts: AccountsPart }) {
    const { language } = readerOf(call.request)
    await accounts.mailAddresses.setWishes(caller, body, language)
    return { success: true }
  },
})

export const removeMailEndpoint = sessionEndpoint({
  summary: 'Remove the mail address',
  description: 'No more mail is sent to you.',
  tag: 'Signing in',
  body: z.object({ password: presentPassword }),
  answer: done,
  errors: [400, 413],
  async handle({ caller, body }, { accounts }: { accounts: AccountsPart }) {
    await accounts.mailAddresses.remove(caller, body.password ?? null)
    return { success: true }
  },
})
